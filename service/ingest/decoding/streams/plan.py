"""The plan for each record: pure data that travels to executors."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.ingest.ingest_request import Route
from service.model.ingest.record_deletes import RecordDeletes
from service.model.ingest.record_rest import RecordRest
from service.model.tables.partition_rules import NO_RULES, PartitionRules
from service.model.tables.schemas import Field


@dataclass(frozen=True, slots=True)
class ReadTarget:
    """The fields that one target's files hold, in their order.

    `unwritten` are names of other columns that are allowed in formats where every record has all columns, if
    no record has a value in them. `partition` says which values have a partition. With `deletes`, records may
    delete, and the rows are marked. `rest` is the one of the fields that takes the fields without a column;
    without it, a record with such a field does not fit.
    """

    fields: tuple[Field, ...]
    unwritten: frozenset[str] = frozenset()
    partition: PartitionRules = NO_RULES
    deletes: RecordDeletes | None = None
    rest: RecordRest | None = None


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The targets of records; without a route there is one target.

    The field of the route need not be among a target's fields.
    """

    targets: tuple[ReadTarget, ...]
    route: Route | None = None
