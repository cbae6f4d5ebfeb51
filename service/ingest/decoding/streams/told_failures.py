"""What fails while records are read: by their own fault, or by that of what they lie on."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from service.errors import GatewayError, IngestInvalid, StorageDown

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Of a place where no file can be, which is one that the data has named.
_NO_PLACE = errno.EINVAL


@contextmanager
def told(what: str) -> Iterator[None]:
    """Reads what should be of this form. Too little memory is nobody's fault here, and passes.

    Raises:
        IngestInvalid: it is not of this form.
        StorageDown: what it lies on, or is unpacked to, fails. Another try may do.
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
    # Of data that is damaged Arrow says so in an error of this class, too, which has no number.
    if error.errno in (None, _NO_PLACE):
        return _invalid(error, what)
    if error.errno in _NO_ROOM:
        return StorageDown("The disk that the body is unpacked to takes no more of it.")
    return StorageDown("The body cannot be read from where it lies.")


def _invalid(error: Exception, what: str) -> IngestInvalid:
    reason = (str(error).splitlines() or ["no reason is known"])[0]
    return IngestInvalid(f"The body cannot be read as {what}: {reason:.300}")
