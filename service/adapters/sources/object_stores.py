"""Storages that are reached over a network."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from pyiceberg.io.pyarrow import PyArrowFileIO

from service.errors.gateway_error import GatewayError
from service.errors.source_errors import SourceDenied
from service.errors.unavailable import StorageDown

_MAX_CACHED_SYSTEMS = 64
# Errors for which PyArrow's file systems have no type: S3's words, HTTP's, gRPC's, Azure's.
_DENIED = re.compile(
    r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|INVALID_CLIENT_TOKEN_ID|SIGNATURE_DOES_NOT_MATCH|EXPIRED_TOKEN"
    r"|HTTP status 40[13]\b|PERMISSION_DENIED|UNAUTHENTICATED|AuthorizationFailure|AuthenticationFailed"
)
Properties = tuple[tuple[str, str], ...]


@lru_cache(_MAX_CACHED_SYSTEMS)
def file_system(properties: Properties, scheme: str, authority: str) -> Any:
    """PyArrow's file system for these properties of PyIceberg's `FileIO`, cached with its connections.

    Raises:
        OSError: there is no such file system, or it cannot be reached.
    """
    try:
        return PyArrowFileIO(dict(properties)).fs_by_scheme(scheme, authority)
    except (ValueError, ImportError) as error:
        raise OSError(f"There is no file system for {scheme}: {error}") from error


def is_denied(error: OSError) -> bool:
    """Whether the storage denies access, so that another attempt would not help.

    >>> is_denied(OSError("AWS Error ACCESS_DENIED during ListObjectsV2 operation"))
    True
    >>> is_denied(OSError("AWS Error SLOW_DOWN during ListObjectsV2 operation"))
    False
    """
    return isinstance(error, PermissionError) or _DENIED.search(str(error)) is not None


def in_gateway_terms(uri: str, error: OSError) -> GatewayError:
    """Returns the error for the caller.

    The storage's own message may name accounts and hosts, so only the log gets it.
    """
    if is_denied(error):
        return SourceDenied(
            f"The storage of {uri} refuses the gateway. Ask the operator: the gateway's credentials may"
            " not list or read this, or the name is wrong."
        )
    return StorageDown(f"The storage of {uri} does not answer.")
