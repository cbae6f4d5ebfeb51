"""The refresh of an aggregation: its state is kept, and brought up to date from the files that were added."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from service.model.query.results import Column


class RefreshOutcome(StrEnum):
    """How a query was answered that may be refreshed, or why it ran in full."""

    REFRESHED = "REFRESHED"
    STATE_KEPT = "STATE_KEPT"
    """It ran in full in a way that leaves a state, because there was none."""
    NOT_ONE_SELECT = "NOT_ONE_SELECT"
    NOT_AGGREGATED = "NOT_AGGREGATED"
    SUBQUERY = "SUBQUERY"
    CTE = "CTE"
    VIEW = "VIEW"
    AGGREGATED_TWICE = "AGGREGATED_TWICE"
    WINDOW = "WINDOW"
    DISTINCT = "DISTINCT"
    GROUPING_SETS = "GROUPING_SETS"
    AGGREGATE = "AGGREGATE"
    HINT = "HINT"
    NAMES = "NAMES"
    PARAMETERS = "PARAMETERS"
    JOIN = "JOIN"
    TABLES = "TABLES"
    SMALL_TABLE = "SMALL_TABLE"
    NOT_PINNED = "NOT_PINNED"
    TYPE = "TYPE"
    FLOATING_POINT = "FLOATING_POINT"
    OTHER_COLUMNS = "OTHER_COLUMNS"
    TOO_COMPLEX = "TOO_COMPLEX"
    STATE_TOO_LARGE = "STATE_TOO_LARGE"
    NOT_APPENDED = "NOT_APPENDED"
    HISTORY_GONE = "HISTORY_GONE"
    SCHEMA_CHANGED = "SCHEMA_CHANGED"
    OTHER_TABLE_CHANGED = "OTHER_TABLE_CHANGED"
    MAY_OVERFLOW = "MAY_OVERFLOW"
    CHANGED_WHILE_READ = "CHANGED_WHILE_READ"
    ENGINE_FAILED = "ENGINE_FAILED"


class StateFunction(StrEnum):
    """The functions of states that the engine itself does not have, by the names that texts of states have.

    No caller's text may name them. All of them aggregate, and take the relative deviation as another
    argument, like `approx_count_distinct`.
    """

    READ_REGISTERS = "__sluice_read_registers"
    """The registers of values."""
    MERGE_REGISTERS = "__sluice_merge_registers"
    """The registers of registers."""
    ESTIMATE_DISTINCT = "__sluice_estimate_distinct"
    """How many distinct values registers stand for."""


class NotRefreshable(Exception):
    """The query, or this run of it, is not refreshed, for this reason."""

    def __init__(self, reason: RefreshOutcome) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """A call of an aggregate function, as it is written.

    `name` is in lower case, `argument` the text between the parentheses, and `condition` the text of its
    FILTER clause, if it has one.
    """

    name: str
    argument: str
    condition: str = ""

    @property
    def text(self) -> str:
        """The call with its filter."""
        return self.over(self.name, self.argument)

    def over(self, function: str, argument: str) -> str:
        """Returns a call of another function over the same rows."""
        return f"{function}({argument})" + (f" {self.condition}" if self.condition else "")


@dataclass(frozen=True, slots=True)
class Aggregation:
    """A SELECT with aggregates, as parts of its own text.

    `source` is its text from FROM to WHERE, and `keys` are its group expressions. `items` and `tail` are what
    it makes of them: each key and each aggregate is a placeholder, as `placeholder` spells it.
    """

    source: str
    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    items: tuple[str, ...]
    tail: tuple[str, ...]
    is_grouped: bool


def placeholder(kind: str, number: int) -> str:
    """Returns what stands for a key (`k`) or an aggregate (`a`) in a part of the text."""
    return f"\x00{kind}{number}\x00"


@dataclass(frozen=True, slots=True)
class Guard:
    """A column of a state whose values bound what a run may have added up on the way.

    If the sum of the greatest values of all parts is at most `limit`, no order of adding can overflow.
    """

    column: str
    limit: int


@dataclass(frozen=True, slots=True)
class Average:
    """A decimal average: how many digits its quotient has left depends on the values."""

    sum_column: str
    count_column: str
    scale: int
    result_precision: int
    result_scale: int


@dataclass(frozen=True, slots=True)
class Partial:
    """How an aggregate is kept and merged.

    `columns` are the expressions that the state has for it, by name. `merged` is the expression over states
    that is the aggregate of all their rows, and `renewed` has one for each column, which is the column again.
    """

    columns: tuple[tuple[str, str], ...]
    merged: str
    renewed: tuple[tuple[str, str], ...]
    guards: tuple[Guard, ...] = ()
    average: Average | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The text of a query around its aggregation. Its SELECTs read nothing but the groups.

    `names` are those of the columns that the aggregation gives them.
    """

    before: str
    after: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RefreshPlan:
    """Everything about a text that is needed to keep its state and to answer from it.

    `columns` are those of its result. Without `surroundings`, the aggregation is the whole query.
    """

    aggregation: Aggregation
    partials: tuple[Partial, ...]
    columns: tuple[Column, ...]
    surroundings: Surroundings | None = None
