"""Eliminates joins, now that keys and rows are known."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from service.model.filters.dynamic_filter import DynamicFilter, KeySpan
from service.model.filters.key_set import FilterForm
from service.model.filters.relations import CachedRelation
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.tables.sql import TextSpan
from service.pruning.rewrites.local_relations import RelationAssignment
from service.pruning.rewrites.redundant_joins import RedundantJoin
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detection.detected import Detected
from service.query.filtering.passes.references import ordinal_at
from service.query.filtering.passes.text_changes import Pass


@dataclass(frozen=True, slots=True)
class EliminatedJoin:
    """An eliminated join, and the filter that replaces it."""

    join: RedundantJoin
    by: AppliedFilter

    @property
    def end(self) -> int:
        """Where in the text the name of its table ends."""
        return self.join.relation.reference_end

    @property
    def edits(self) -> Mapping[TextSpan, str]:
        """The parts of the text to replace, each with its new text."""
        return self.join.edits or {}


@dataclass(frozen=True, slots=True)
class EliminatedJoins:
    """The changes of the text, and where the names of the tables end that are not read any more."""

    changes: Pass = field(default_factory=Pass)
    ends: frozenset[int] = frozenset()


def eliminate_joins(
    detected: Detected,
    applied: Sequence[AppliedFilter],
    relations: Sequence[tuple[RelationAssignment, CachedRelation]],
    pinned: Collection[int],
) -> EliminatedJoins:
    """Eliminates the joins that a filter on a pinned table replaces."""
    candidates = [join for join in detected.detection.redundant_joins if join.probe_end in pinned]
    eliminated = eliminated_joins(candidates, applied, dict(relations))
    changes = Pass(
        edits={span: text for join in eliminated for span, text in join.edits.items()},
        records=[_record(join, detected) for join in eliminated],
    )
    return EliminatedJoins(changes, frozenset(join.end for join in eliminated))


def eliminated_joins(
    candidates: Sequence[RedundantJoin],
    applied: Sequence[AppliedFilter],
    cached: Mapping[RelationAssignment, CachedRelation],
) -> list[EliminatedJoin]:
    """Returns the joins whose rows have distinct keys, by which the probe is filtered exactly."""
    eliminated: list[EliminatedJoin] = []
    for join in candidates:
        rows = cached.get(join.relation)
        found = None if rows is None else _standing_for(join, rows, applied)
        if found is None:
            continue
        if join.edits is not None and not any(_overlap(join.edits, other.edits) for other in eliminated):
            eliminated.append(EliminatedJoin(join, found))
    return eliminated


def _standing_for(
    join: RedundantJoin, rows: CachedRelation, applied: Sequence[AppliedFilter]
) -> AppliedFilter | None:
    return next(
        (applied_filter for applied_filter in applied if _stands_for(applied_filter, join, rows)), None
    )


def _stands_for(applied: AppliedFilter, join: RedundantJoin, rows: CachedRelation) -> bool:
    """Whether there are as many keys as rows: keys are distinct and never NULL.

    Without the join, the engine loses its own pruning by it, so the keys must be those that it would prune
    by.
    """
    is_exact = applied.formed.is_exact and applied.formed.form is not FilterForm.EMPTY
    is_on_probe = applied.end == join.probe_end
    return (
        is_exact
        and applied.assignment.is_whole
        and is_on_probe
        and applied.key_count == rows.row_count
        and _is_by(applied.assignment.filter, join)
    )


def _is_by(found: DynamicFilter, join: RedundantJoin) -> bool:
    build, rows_of = found.build, join.relation.query.rows_of
    columns = (found.probe.columns[0].lower(), tuple(column.lower() for column in build.columns))
    is_same = build.predicate == rows_of.predicate and build.snapshot_ids == rows_of.snapshot_ids
    return (
        found.span is KeySpan.VALUE
        # A day that timestamps were converted to matches more than those timestamps.
        and not found.is_converted
        # A null-safe predicate may be true of NULL, which no `=` is.
        and not found.is_null_safe
        and not build.is_union
        and len(found.probe.columns) == 1
        and columns == (join.probe_column, (join.build_column,))
        and build.tables == rows_of.tables
        and is_same
    )


def _overlap(one: Collection[TextSpan], other: Collection[TextSpan]) -> bool:
    return any(span.start < far.end and far.start < span.end for span in one for far in other)


def _record(eliminated: EliminatedJoin, detected: Detected) -> RewriteRecord:
    return RewriteRecord(
        RewriteKind.JOIN_ELIMINATED,
        str(eliminated.join.relation.query.rows_of.tables[0]),
        f"by the keys of {eliminated.join.build_column}",
        ordinal_at(eliminated.end, detected),
        eliminated.by.assignment.filter.filter_id,
    )
