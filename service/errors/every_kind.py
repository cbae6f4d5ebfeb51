"""Every class of errors below a root, for those that find a class by its code.

A class is known once its module is imported, so this module imports those of all areas.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TypeVar

from service.errors import (
    cache_errors,
    credential_errors,
    ingest_errors,
    maintenance_errors,
    policy_errors,
    query_errors,
    saved_query_errors,
    session_errors,
    source_errors,
    statement_errors,
    table_errors,
    trial_errors,
    unavailable,
)
from service.errors.gateway_error import GatewayError

E = TypeVar("E", bound=GatewayError)

AREAS: tuple[ModuleType, ...] = (
    cache_errors,
    credential_errors,
    ingest_errors,
    maintenance_errors,
    policy_errors,
    query_errors,
    saved_query_errors,
    session_errors,
    source_errors,
    statement_errors,
    table_errors,
    trial_errors,
    unavailable,
)
"""The modules that have errors of an area."""


def every_kind(root: type[E]) -> Iterator[type[E]]:
    """Yields all classes below `root`, and `root` last. A class below two of them comes twice.

    >>> from service.errors.gateway_error import PartDown
    >>> "StorageDown" in [kind.__name__ for kind in every_kind(PartDown)]
    True
    """
    for kind in root.__subclasses__():
        yield from every_kind(kind)
    yield root


def kinds_by_code(root: type[E]) -> dict[str, type[E]]:
    """Returns the class for each code; the most general one, where several share a code.

    >>> from service.errors.gateway_error import PartDown
    >>> kinds_by_code(PartDown)["STORAGE_DOWN"].__name__
    'StorageDown'
    """
    by_depth = sorted(every_kind(root), key=lambda kind: len(kind.__mro__), reverse=True)
    return {kind.code: kind for kind in by_depth}
