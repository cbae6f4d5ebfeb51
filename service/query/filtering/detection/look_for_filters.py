"""Finds the filters of one text by the facts of its tables: all that detection computes, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from service.model.filters.filter_record import Reason
from service.model.query.query import Parameter
from service.model.tables.tables import NOW, TableAt, TableFacts, TableVersion, VersionKind
from service.ports.bounded_calls import Answer
from service.pruning.candidates.compared_columns import compared_columns
from service.pruning.detect import detect
from service.pruning.detection import Detection, DetectionContext
from service.pruning.name_resolution.ambiguous_tables import ambiguous_tables
from service.pruning.name_resolution.at_snapshots import at_snapshots
from service.pruning.name_resolution.is_readable_again import is_readable_again
from service.pruning.name_resolution.qualify import qualify
from service.pruning.name_resolution.row_filters import mark_row_filters
from service.pruning.rewrites.local_relations import named_in
from service.pruning.sql_text.fold_lists import fold_lists
from service.pruning.sql_text.metadata_names import metadata_names
from service.pruning.sql_text.number_placeholders import number_placeholders
from service.query.filtering.detection.read_text import read_text

ANNOUNCE, IS_CLUSTERED, CLUSTERING = "announce", "is_clustered", "clustering"


@dataclass(frozen=True, slots=True)
class FilterSearch:
    """The input of a search for filters: a text, its tables, and how the query is run.

    `names` are keyed by where each name ends. Times without a zone are in `zone`. `takes_whole_builds`: keys
    also come from tables that nothing filters.
    """

    sql: str
    zone: str | None
    catalog_names: frozenset[str]
    catalog: str | None
    schema: str | None
    names: Mapping[int, TableAt]
    facts: Mapping[TableAt, TableFacts]
    parameters: Mapping[str, Parameter]
    session: Mapping[str, str]
    days: tuple[date, ...]
    max_build_rows: int
    max_fetched_rows: int
    max_relation_rows: int
    is_keeping_rows: bool
    takes_whole_builds: bool = False


def ready(_: Answer) -> None:
    """Called by a process that will look for filters; by then it has imported what that needs."""


def look_for_filters(answer: Answer, search: FilterSearch) -> Detection | None:
    """Returns the filters; None if the text's names cannot be resolved.

    It calls `answer` with `ANNOUNCE`, the tables and the compared columns, and asks it `IS_CLUSTERED` and
    `CLUSTERING` of a table and a column.
    """
    read = read_text(search.sql, search.zone)
    if isinstance(read, Reason):
        return None
    parsed = metadata_names(read, search.catalog_names, search.catalog)
    numbered = fold_lists(number_placeholders(parsed))
    versioned = at_snapshots(numbered, _snapshots(search.names, search.facts))
    tables = _by_snapshot(search.facts)
    tree = qualify(versioned, tables, search.catalog, search.schema)
    if tree is None:
        return None
    mark_row_filters(tree, tables)
    answer(ANNOUNCE, list(tables.values()), compared_columns(tree))
    ambiguous = ambiguous_tables(tree, parsed, search.names)
    tables = {at: table for at, table in tables.items() if at.version != NOW or at.name not in ambiguous}
    context = DetectionContext(
        tables=tables,
        parameters=search.parameters,
        session=search.session,
        max_build_rows=search.max_build_rows,
        is_clustered=lambda facts, column: bool(answer(IS_CLUSTERED, facts, column)),
        clustering=lambda facts, column: str(answer(CLUSTERING, facts, column)),
        days=search.days,
        is_named=named_in(search.sql, parsed.tree),
        max_relation_rows=search.max_relation_rows,
        max_fetched_rows=search.max_fetched_rows,
        parsed=parsed,
        is_keeping_rows=search.is_keeping_rows,
        takes_whole_builds=search.takes_whole_builds,
    )
    return replace(detect(tree, context), ambiguous=frozenset(ambiguous))


def _snapshots(names: Mapping[int, TableAt], facts: Mapping[TableAt, TableFacts]) -> dict[int, int]:
    """Returns the snapshots of the tables that are read at a version and can be read at it again."""
    found = ((end, facts.get(table)) for end, table in names.items() if table.version != NOW)
    return {
        end: fact.snapshot_id
        for end, fact in found
        if fact is not None and fact.snapshot_id is not None and is_readable_again(fact)
    }


def _by_snapshot(facts: Mapping[TableAt, TableFacts]) -> Mapping[TableAt, TableFacts]:
    """Keys the facts by name in lower case, and by snapshot in place of other versions.

    Leaves out tables whose names differ only by case: the tree cannot tell them apart.
    """
    found: dict[TableAt, TableFacts] = {}
    ambiguous: set[TableAt] = set()
    for table, fact in facts.items():
        version = table.version
        if version != NOW:
            if fact.snapshot_id is None or not is_readable_again(fact):
                continue
            version = TableVersion(VersionKind.SNAPSHOT, fact.snapshot_id)
        name = table.name
        lower = TableAt(name.in_lower_case(), version)
        if found.setdefault(lower, fact).name != fact.name:
            ambiguous.add(lower)
    return {table: fact for table, fact in found.items() if table not in ambiguous}
