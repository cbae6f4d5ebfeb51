"""How the process gives memory back."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE_BYTES = 1024 * 1024
_ARENAS = 2


def give_back_large_blocks() -> None:
    """From now on, what takes a megabyte or more leaves the process as soon as it is freed.

    glibc raises that bound with each large block that is freed, up to 32 MB, and has eight arenas a core:
    rows of answers would stay with the process. Does nothing where there is another C library.

    Source: mallopt(3).
    """
    with suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_M_ARENA_MAX, _ARENAS)
