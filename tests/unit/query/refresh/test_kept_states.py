from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pyarrow as pa

from service.model.query.results import Column
from service.query.refresh.kept_states import KeptState, KeptStates
from tests.fakes.clock import FakeClock

CLOCK = FakeClock()
COLUMNS = (Column("__k0", "INT", is_nullable=True), Column("__a0", "BIGINT", is_nullable=False))


def part(*rows: tuple[int | None, int]) -> pa.Table:
    keys, values = zip(*rows, strict=True)
    return pa.table({"__k0": pa.array(keys, pa.int32()), "__a0": pa.array(values, pa.int64())})


STATE = KeptState(
    UUID(int=1), CLOCK.now(), UUID(int=2), 0, 7, {}, COLUMNS, (part((1, 5), (None, 6)), part((1, 1)))
)


def test_the_parts_stand_below_one_another_as_the_engine_typed_them() -> None:
    rows = STATE.rows()
    assert rows.to_pylist() == [
        {"__k0": 1, "__a0": 5},
        {"__k0": None, "__a0": 6},
        {"__k0": 1, "__a0": 1},
    ]
    assert [field.nullable for field in rows.schema] == [True, False]
    assert (STATE.row_count, STATE.byte_count) == (3, sum(found.nbytes for found in STATE.parts))


def test_a_state_that_nothing_uses_is_dropped() -> None:
    clock = FakeClock()
    states = KeptStates(clock, max_entries=2, max_bytes=1 << 20, max_age_ms=1000)
    states.put("a", STATE)
    clock.advance(timedelta(seconds=1))
    assert states.find("a") == STATE
    clock.advance(timedelta(milliseconds=1))
    assert states.find("a") is None
    states.put("a", replace(STATE, snapshot_id=8))
    assert states.find("a") is not None
    states.drop("a")
    assert states.find("a") is None


def test_the_least_used_make_room() -> None:
    states = KeptStates(FakeClock(), max_entries=2, max_bytes=1 << 20, max_age_ms=1000)
    for key in "abc":
        states.put(key, STATE)
    assert [states.find(key) is not None for key in "abc"] == [False, True, True]
    small = KeptStates(FakeClock(), max_entries=2, max_bytes=STATE.byte_count - 1, max_age_ms=1000)
    small.put("a", STATE)
    assert small.find("a") is None
