"""Writes a statement's filters into its text: a condition on the rows of the table that it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from service.model.filters.filter_record import FilterOutcome, FilterRecord, Reason
from service.model.tables.sql import ParsedQuery, TableReference, TextSpan
from service.model.tables.tables import NOW, TableFacts, TableName, TableSource
from service.model.writes.writes import WriteKind
from service.pruning.detection import FilterAssignment
from service.pruning.predicates.without_equalities import without_equalities
from service.pruning.sql_text.change_text import ChangeText
from service.pruning.sql_text.inject import TableSubstitution, inject
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detection.detected import Detected
from service.query.filtering.formed_filters import FormedFilter, applied_filters, filter_records
from service.query.filtering.passes.pins import pins
from service.query.filtering.pruned_query import PrunedQuery, filter_record
from service.query.filtering.unpinned_references import UnpinnedReference, unpinned_references

_COPIED = replace(
    FilterOutcome.none(Reason.PROBE_NOT_PRUNABLE),
    detail="the table's files are copied, and this is no identity partition of all of them",
)


@dataclass(frozen=True, slots=True)
class PrunedWrite:
    """A statement that writes, as it is to run, and what must hold when it does; else it runs as written.

    `reads` are the names, in lower case, of all tables that it may read. `changed` are the facts of the table
    whose rows it changes, by which its predicates were made; None: it adds rows alone.
    """

    pruned: PrunedQuery
    kinds: frozenset[WriteKind] = frozenset()
    reads: frozenset[TableName] = frozenset()
    changed: TableFacts | None = None


@dataclass(frozen=True, slots=True)
class ChangedTable:
    """The reference to the table that a statement changes, in its question, and the table's facts."""

    reference: TableReference
    facts: TableFacts

    @property
    def known_as(self) -> str:
        """The name that qualifies its columns."""
        return self.reference.known_as if self.reference.alias is None else self.reference.alias


def changed_table(detected: Detected) -> ChangedTable | Reason:
    """Returns the table that the statement changes, or the reason why it runs as written.

    Everything else that it reads must be a table of Iceberg that can be read at a snapshot. The table that it
    changes is read in its latest state, so it may not be read a second time, at the snapshot of its facts.
    """
    first = min(detected.parsed.references, key=lambda reference: reference.start)
    found = _facts_of(detected, first)
    if found is None or found.source is not TableSource.ICEBERG or first.version != NOW or not first.is_plain:
        return Reason.SOURCE_NOT_SUPPORTED
    if found.restriction.is_any:
        # The engine refuses it.
        return Reason.SOURCE_NOT_SUPPORTED
    others = [reference for reference in detected.parsed.references if reference.end != first.end]
    named = [_facts_of(detected, reference) for reference in others]
    if any(facts is not None and _is_same(facts, found) for facts in named):
        return Reason.REWRITE_REJECTED
    pinned = {end: pin for end, pin in pins(detected, (), ()).items() if end != first.end}
    unpinned = unpinned_references(detected.parsed, detected.names, detected.facts, pinned)
    read_later = (UnpinnedReference(detected.names[first.end], found),)
    if any(facts is None for facts in named) or unpinned != read_later:
        return Reason.SOURCE_NOT_SUPPORTED
    return ChangedTable(first, found)


def without_keys_of(detected: Detected, table: TableName) -> Detected:
    """Returns the same without filters by keys of this table, which is read later than they would be."""
    found = detected.detection
    kept = tuple(each for each in found.assignments if table not in each.filter.build.tables)
    return replace(detected, detection=replace(found, assignments=kept))


def without_copies(detected: Detected, changed: ChangedTable, text: ChangeText) -> Detected:
    """Returns the same without filters that would let a row come back which another writer deletes by key.

    Where files are copied, so are their rows that the statement does not change. Iceberg looks for equality
    deletes of such rows with the predicates of the scan, in the bounds of the deletes. It finds them if each
    predicate is true of all rows of a copied file: its columns are the same in the whole file.
    """
    facts, found = changed.facts, detected.detection
    if text.only_adds or str(text.kind) in facts.merge_on_read:
        return detected
    fields = facts.partition_fields if facts.has_one_spec else ()
    same = {field.source.lower() for field in fields if field.transform == "identity"}
    kept: list[FilterAssignment] = []
    rejected: list[FilterRecord] = []
    for assignment in found.assignments:
        columns = {column.lower() for column in assignment.filter.probe.columns}
        if assignment.reference_end != changed.reference.end or columns <= same:
            kept.append(assignment)
        else:
            label = detected.parsed.label_at(assignment.reference_end)
            rejected.append(filter_record(assignment, _COPIED, None, label))
    if not rejected:
        return detected
    records = (*found.rejected, *rejected)
    return replace(detected, detection=replace(found, assignments=tuple(kept), rejected=records))


def pruned_change(
    text: ChangeText,
    detected: Detected,
    changed: ChangedTable,
    formed: Sequence[FormedFilter],
    filters_ms: int,
) -> PrunedWrite:
    """Returns the statement with its filters in its text; as it is written if it has none."""
    pruned = PrunedQuery(
        text.sql,
        filters=(*filter_records(formed, detected), *detected.detection.rejected),
        unfiltered=detected.detection.unfiltered,
        parse_ms=detected.parse_ms,
        detect_ms=detected.detect_ms,
        filters_ms=filters_ms,
        facts=tuple(detected.facts.values()),
    )
    applied = applied_filters(formed)
    sql = _change_sql(text, detected, changed, applied) if applied else None
    if sql is None:
        return PrunedWrite(pruned if not applied else pruned.as_written(text.sql))
    return PrunedWrite(
        replace(pruned, sql=sql, rewritten_sql=sql),
        frozenset({text.kind}),
        names_read(pruned),
        changed.facts,
    )


def names_read(pruned: PrunedQuery) -> frozenset[TableName]:
    """Returns the names, in lower case, of all tables that a rewritten text was made from."""
    return frozenset(facts.name.in_lower_case() for facts in pruned.facts)


def _change_sql(
    text: ChangeText, detected: Detected, changed: ChangedTable, applied: Sequence[AppliedFilter]
) -> str | None:
    """Returns the statement with its filters; None if one of its tables has no place in it.

    The predicates on the changed table are added to the condition, which implies them. So it is true of the
    same rows, and the engine can choose files by them. Filters on other tables are written as in a query, and
    all of those tables are read at the snapshots that keys were collected from.
    """
    references = tuple(_moved(reference, text) for reference in detected.parsed.references)
    if None in references:
        return None
    own = changed.reference.end
    reads = {
        _place(text, end): _with_filters(text, end, pin, applied)
        for end, pin in pins(detected, applied, ()).items()
        if end != own
    }
    # As in queries: from one key, the engine infers an equality that may replace that of an inner join.
    added = dict.fromkeys(without_equalities(each.formed.condition) for each in applied if each.end == own)
    conditions = " AND ".join(_on(condition, changed.known_as) for condition in added)
    start, end = text.condition.start, text.condition.end
    edits = {TextSpan(start, start): "(", TextSpan(end, end): f") AND {conditions}"} if added else {}
    known = tuple(reference for reference in references if reference is not None)
    return inject(ParsedQuery(text.sql, detected.parsed.tree, known), reads, edits)


def _with_filters(
    text: ChangeText, end: int, pin: TableSubstitution, applied: Sequence[AppliedFilter]
) -> TableSubstitution:
    found = dict.fromkeys(
        without_equalities(filter_.formed.condition) for filter_ in applied if filter_.end == end
    )
    if not found and text.source is not None and _is_within(_place(text, end), text.source):
        # A MERGE reads a table at a snapshot only in a query in parentheses.
        return replace(pin, conditions=(exp.true(),))
    return replace(pin, conditions=tuple(found))


def _is_within(end: int, span: TextSpan) -> bool:
    return span.start < end <= span.end


def _on(condition: exp.Expr, known_as: str) -> str:
    qualified = condition.copy()
    for column in qualified.find_all(exp.Column):
        column.set("table", exp.to_identifier(known_as, quoted=True))
    return exp.paren(qualified, copy=False).sql("spark")


def _facts_of(detected: Detected, reference: TableReference) -> TableFacts | None:
    table = detected.names.get(reference.end)
    return None if table is None else detected.facts.get(table)


def _is_same(one: TableFacts, other: TableFacts) -> bool:
    return one.table_uuid == other.table_uuid or one.name.in_lower_case() == other.name.in_lower_case()


def _moved(reference: TableReference, text: ChangeText) -> TableReference | None:
    """Returns the reference at its place in the statement; None: it has none there."""
    start, end = text.place_of(reference.start), text.place_of(reference.end - 1)
    until = reference.version_end
    version_end = None if until is None else text.place_of(until - 1)
    if start is None or end is None or (until is not None and version_end is None):
        return None
    return replace(
        reference,
        start=start,
        end=end + 1,
        version_end=None if version_end is None else version_end + 1,
        part_ends=(),
    )


def _place(text: ChangeText, end: int) -> int:
    found = text.place_of(end - 1)
    assert found is not None  # as `_moved` has checked
    return found + 1
