"""Returns memory from the process to the system."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE_BYTES = 1024 * 1024
_ARENAS = 2


def share_allocator_with_arrow() -> None:
    """Makes Arrow take its memory from the C library, unless the operator chose another pool.

    Must run before pyarrow is imported. Arrow's own allocator keeps freed pages for each thread: with the
    gateway's threads, a hundred megabytes of which nothing is in use.

    Source: Arrow's `ARROW_DEFAULT_MEMORY_POOL`.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def give_back_large_blocks() -> None:
    """Makes blocks of a megabyte or more leave the process as soon as they are freed.

    glibc raises that bound with each large block that is freed, up to 32 MB, and has eight arenas a core: the
    rows of answers would stay in the process. Does nothing with another C library.

    Source: mallopt(3).
    """
    with suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_M_ARENA_MAX, _ARENAS)
