"""Classifies failures while records are read: the records are invalid, or their storage fails."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import IngestInvalid
from service.errors.unavailable import StorageDown

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# An impossible position in the file, which the data has given.
_NO_PLACE = errno.EINVAL


@contextmanager
def reported(what: str) -> Iterator[None]:
    """Classifies errors inside, where records in this format are read; lack of memory is not classified.

    Raises:
        IngestInvalid: the records are not in this format.
        StorageDown: their storage, or the disk that they are decompressed to, fails. Another try may succeed.
    """
    try:
        yield
    except OSError as error:
        raise _of_system(error, what) from error
    except (pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        if isinstance(error, MemoryError):
            raise
        raise _invalid(error, what) from None


def _of_system(error: OSError, what: str) -> GatewayError:
    # Arrow also raises this class for damaged data, but without a number.
    if error.errno in (None, _NO_PLACE):
        return _invalid(error, what)
    if error.errno in _NO_ROOM:
        return StorageDown("The disk has no room to unpack more of the body.")
    return StorageDown("The gateway cannot read the body back from where it was stored.")


def _invalid(error: Exception, what: str) -> IngestInvalid:
    reason = (str(error).splitlines() or ["no reason is known"])[0]
    return IngestInvalid(f"The body cannot be read as {what}: {reason:.300}")
