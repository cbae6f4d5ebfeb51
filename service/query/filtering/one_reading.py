"""Collects the keys of a filter and the rows that contain them in one scan of their table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.filter_record import FilterOutcome
from service.model.filters.key_set import DynamicFilteringData
from service.model.filters.relations import RelationBounds, RelationQuery
from service.model.policies.decisions import Access
from service.model.query.query import Parameters
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.tables.tables import TableFacts
from service.ports.filters.filter_keys import KeyCollector, KeysAndRows
from service.pruning.detection import FilterAssignment
from service.pruning.rows_with_keys import rows_with_keys
from service.query.filtering.detection.detected import Detected
from service.query.filtering.fetched_relations import LocalRelations

# If a table is this many times larger than the bound on cached rows, only its keys are read: its rows are
# hardly few, and trying would cost the memory of their columns besides the keys.
LARGER_AT_MOST = 8
_STANDS_FOR = {RewriteKind.LOCAL_RELATION, RewriteKind.JOIN_ELIMINATED}


@dataclass(frozen=True, slots=True)
class KeptRelation:
    """Rows that are to be kept with a filter's keys, and how many of them."""

    query: RelationQuery
    bounds: RelationBounds


@dataclass(frozen=True, slots=True)
class ReadKeys:
    """Keys, None if only the engine can read them; `with_rows` if rows were read in the same scan.

    `relation` is the fingerprint of the relation that is cached now. `are_too_many`: there are more rows than
    can be kept.
    """

    keys: DynamicFilteringData | None
    relation: str = ""
    with_rows: KeysAndRows | None = None
    are_too_many: bool = False


@dataclass(frozen=True, slots=True)
class OneReading:
    """The relations that are cached together with filters' keys, by those filters' fingerprints.

    If several filters have keys from one relation, the first to be collected brings it. `in_memory` are the
    cached relations that have the keys among their rows, by the same fingerprints.
    """

    relations: LocalRelations | None = None
    wanted: Mapping[str, RelationQuery] = field(default_factory=dict)
    brought_by: dict[str, str] = field(default_factory=dict)
    in_memory: Mapping[str, RelationQuery] = field(default_factory=dict)

    def collect(
        self,
        reader: KeyCollector,
        found: DynamicFilter,
        parameters: Parameters,
        is_canceled: Callable[[], bool],
        kept: KeptRelation | None = None,
    ) -> ReadKeys:
        """Returns the keys, if the reader can read them, and the rows if it read them in the same scan.

        With `kept`, it reads these rows where no relation is wanted. The reader knows no policies, so the
        engine reads what they restrict.

        Raises:
            QueryCanceled: the query was canceled while this ran.
        """
        if found.build.is_restricted:
            return ReadKeys(None)
        relation = self._relation_of(found)
        if relation is not None and self.relations is not None:
            bounds = self.relations.bounds
            read = reader.collect_with_rows(found, relation, bounds, parameters, is_canceled)
            if read is not None:
                is_cached = self.relations.cache(relation, read)
                return ReadKeys(read.keys, relation.fingerprint if is_cached else "", read)
        elif kept is not None:
            read = reader.collect_with_rows(found, kept.query, kept.bounds, parameters, is_canceled)
            if read is not None:
                return ReadKeys(read.keys, "", read, are_too_many=read.rows is None)
        return ReadKeys(reader.collect(found, parameters, is_canceled))

    def fetch(self, found: DynamicFilter, parameters: Parameters, access: Access) -> RelationQuery | None:
        """Makes the engine read the relation with the keys; returns it if it is cached then. Blocks."""
        relation = self._relation_of(found)
        if relation is None or self.relations is None:
            return None
        return relation if self.relations.fetch(relation, parameters, access) else None

    def _relation_of(self, found: DynamicFilter) -> RelationQuery | None:
        relation = self.wanted.get(found.fingerprint)
        if relation is None:
            return None
        # `setdefault` is atomic; several filters are collected at once.
        first = self.brought_by.setdefault(relation.fingerprint, found.fingerprint)
        return relation if first == found.fingerprint else None


def one_reading(detected: Detected, relations: LocalRelations) -> OneReading:
    """Returns which relations to read with the keys of the query's filters: those of small tables.

    If wider rows are in memory, exactly those with the keys are read only where they may eliminate a join.
    """
    wanted = rows_with_keys(detected.detection.assignments, detected.detection.relations)
    small = {
        fingerprint: relation_query
        for fingerprint, relation_query in wanted.items()
        if _is_small(
            detected.facts_at(relation_query.rows_of.tables[0], relation_query.rows_of.snapshot_ids[0]),
            relations.bounds,
        )
    }
    in_memory = {
        fingerprint: relation
        for fingerprint, relation_query in small.items()
        if (relation := relations.in_memory(relation_query)) is not None
    }
    eliminable = {join.relation.query.fingerprint for join in detected.detection.redundant_joins}
    useful = {
        fingerprint: relation_query
        for fingerprint, relation_query in small.items()
        if fingerprint not in in_memory or relation_query.fingerprint in eliminable
    }
    return OneReading(relations, relations.missing(useful), in_memory=in_memory)


def one_reading_records(
    detected: Detected, outcomes: Mapping[str, FilterOutcome], rewrites: Sequence[RewriteRecord]
) -> Iterator[RewriteRecord]:
    """Yields a record, for each table reference that reads them, of rows collected together with keys."""
    # Outcomes without a relation have an empty fingerprint, which no relation has.
    read: dict[str, str] = {}
    for name, outcome in outcomes.items():
        read.setdefault(outcome.rows_read, name)
    keys = {assignment.filter.filter_id: assignment for assignment in detected.detection.assignments}
    references = {rewrite.table_reference for rewrite in rewrites if rewrite.kind in _STANDS_FOR}
    for place in detected.detection.relations:
        found = detected.parsed.label_at(place.reference_end)
        filter_id = read.get(place.query.fingerprint)
        if filter_id is not None and found is not None and found.number in references:
            table = str(place.query.rows_of.tables[0])
            detail = _detail(keys[filter_id])
            yield RewriteRecord(RewriteKind.ONE_READING, table, detail, found.number, filter_id)


def _detail(assignment: FilterAssignment) -> str:
    columns = ", ".join(assignment.filter.build.columns)
    return f"its rows and the keys of {columns} were collected in one reading"


def _is_small(facts: TableFacts, bounds: RelationBounds) -> bool:
    return (
        facts.record_count <= LARGER_AT_MOST * bounds.max_rows
        and facts.total_bytes <= LARGER_AT_MOST * bounds.max_bytes
    )
