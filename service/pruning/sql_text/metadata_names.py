"""Table names with one more part that selects a branch, a tag, a snapshot or a time of the table."""

from __future__ import annotations

import re
from dataclasses import replace

from service.model.tables.sql import ParsedQuery, TableReference
from service.model.tables.tables import NOW, TableVersion, VersionKind
from service.pruning.sql_text.version_clause import named_version

_SELECTOR = re.compile(
    r"(?P<branch>branch_(?P<name>.+))|at_timestamp_(?P<time>[0-9]{1,15})"
    r"|snapshot_id_(?P<id>[0-9]{1,19})|tag_(?P<tag>.+)"
)


def metadata_names(parsed: ParsedQuery, catalogs: frozenset[str], catalog: str | None) -> ParsedQuery:
    """Returns the query with the last part of such names turned into the version that it selects.

    Only names with a schema may have such a part. The same name may also be a table in a nested schema.

    Source: Iceberg's `SparkCatalog.load`.

    >>> from service.pruning.sql_text.parse import parse
    >>> sql = "SELECT 1 FROM lake.shop.sales.tag_june, shop.sales.branch_audit, lake.shop.branch_sales"
    >>> for reference in metadata_names(parse(sql), frozenset({"lake"}), "lake").references:
    ...     print(sql[reference.start : reference.end], reference.selector, str(reference.version.kind))
    lake.shop.sales tag_june REF
    shop.sales branch_audit BRANCH
    lake.shop.branch_sales None NOW
    """
    references = tuple(_selected(reference, catalogs, catalog) for reference in parsed.references)
    return parsed if references == parsed.references else replace(parsed, references=references)


def _selected(reference: TableReference, catalogs: frozenset[str], catalog: str | None) -> TableReference:
    match reference.parts:
        case (first, _, _, selector) if first in catalogs:
            pass
        case (schema, _, selector) if catalog and schema not in catalogs:
            pass
        case _:
            return reference
    version = _version(selector)
    if version is None or reference.version != NOW or not reference.has_known_version:
        return reference
    return replace(
        reference,
        parts=reference.parts[:-1],
        part_ends=reference.part_ends[:-1],
        end=reference.part_ends[-2],
        version=version,
        version_end=reference.end,
        selector=selector,
    )


def _version(selector: str) -> TableVersion | None:
    match = _SELECTOR.fullmatch(selector)
    if match is None or not selector.isprintable():
        return None
    if match["branch"]:
        return TableVersion(VersionKind.BRANCH, match["name"])
    if match["time"]:
        return TableVersion(VersionKind.TIMESTAMP, int(match["time"]))
    return named_version(match["id"] or match["tag"])
