"""Rows of a wide log table: 500 columns, 50 log types, each with 40 columns that it fills."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BooleanType,
    DoubleType,
    IcebergType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
)

COLUMNS, TYPES, ACTIVE = 500, 50, 40
SHARED = ("event_time", "log_type", "user_id")
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = ("GET", "POST", "ok", "failed", "eu-central-1", "us-east-1", "mobile", "desktop", "retry", "timeout")

# As in logs, half of the columns are texts.
_KINDS: Sequence[IcebergType] = (
    StringType(),
    LongType(),
    StringType(),
    DoubleType(),
    StringType(),
    LongType(),
    StringType(),
    BooleanType(),
)


def log_schema() -> Schema:
    """Returns the table's schema."""
    own = (
        NestedField(number, f"c{number:03}", _KINDS[number % len(_KINDS)])
        for number in range(len(SHARED) + 1, COLUMNS + 1)
    )
    return Schema(
        NestedField(1, SHARED[0], TimestamptzType(), required=True),
        NestedField(2, SHARED[1], StringType(), required=True),
        NestedField(3, SHARED[2], LongType()),
        *own,
    )


@dataclass(frozen=True, slots=True)
class LogType:
    """One log type, and the columns that it fills."""

    name: str
    columns: tuple[str, ...]

    def rows(self, count: int, seed: int) -> pa.Table:
        """Returns `count` rows of its columns alone; the same rows for the same seed."""
        chance = np.random.default_rng((seed, int(self.name[1:])))
        return pa.table({name: _column(name, self.name, count, chance) for name in self.columns})


def log_types() -> Sequence[LogType]:
    """Returns all log types, the same in each run."""
    chance = random.Random(5)
    own = [f"c{number:03}" for number in range(len(SHARED) + 1, COLUMNS + 1)]
    return [
        LogType(f"t{number:02}", (*SHARED, *sorted(chance.sample(own, ACTIVE - len(SHARED)))))
        for number in range(TYPES)
    ]


def _column(name: str, log_type: str, count: int, chance: np.random.Generator) -> pa.Array:
    if name == "event_time":
        first = int(FIRST_DAY.timestamp() * 1_000_000)
        spread = timedelta(hours=1) // timedelta(microseconds=1)
        moments = np.sort(chance.integers(first, first + spread, count))
        return pa.array(moments, pa.timestamp("us", "UTC"))
    if name == "log_type":
        return pa.array([log_type] * count, pa.string())
    if name == "user_id":
        return pa.array(chance.integers(0, 100_000, count), pa.int64())
    return _values(_KINDS[int(name[1:]) % len(_KINDS)], int(name[1:]), count, chance)


def _values(kind: IcebergType, number: int, count: int, chance: np.random.Generator) -> pa.Array:
    match kind:
        case StringType() if number % 3 == 0:
            # An id: no two are equal.
            ids = chance.integers(0, 2**62, count)
            return pa.array([f"{id_:016x}" for id_ in ids.tolist()], pa.string())
        case StringType():
            return pa.array(np.array(WORDS)[chance.integers(0, len(WORDS), count)], pa.string())
        case LongType():
            return pa.array(chance.integers(0, 10 ** (1 + number % 9), count), pa.int64())
        case DoubleType():
            return pa.array(np.round(chance.random(count) * 1000, 3), pa.float64())
        case _:
            return pa.array(chance.random(count) < 0.5, pa.bool_())
