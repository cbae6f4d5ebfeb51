"""The identifiers of a catalog's tables, namespace by namespace."""

from __future__ import annotations

from collections.abc import Iterator

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError
from pyiceberg.typedef import Identifier


def identifiers(catalog: Catalog, schema: str | None) -> Iterator[Identifier]:
    """Yields the identifiers of a catalog's tables; only those of one schema, if given."""
    namespaces = _namespaces(catalog) if schema is None else [tuple(schema.split("."))]
    for namespace in namespaces:
        yield from _listed(catalog, namespace)


def _namespaces(catalog: Catalog, parent: Identifier = ()) -> Iterator[Identifier]:
    try:
        children = catalog.list_namespaces(parent)
    except NoSuchNamespaceError:
        # Dropped since its parent was listed.
        return
    for child in children:
        yield child
        yield from _namespaces(catalog, child)


def _listed(catalog: Catalog, namespace: Identifier) -> list[Identifier]:
    try:
        return catalog.list_tables(namespace)
    except NoSuchNamespaceError:
        return []
