"""Reading any text ends, and takes time and memory in proportion to its length."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from service.adapters.processes.bounded_processes import BoundedProcesses
from service.errors.gateway_error import CallerError
from service.errors.statement_errors import SqlTooDeep
from service.model.authentication.principals import Principal, PrincipalKind
from service.model.filters.filter_record import Reason
from service.model.policies.decisions import FULL_ACCESS
from service.model.policies.policies import PolicySet
from service.model.query.query import QueryRequest
from service.model.tables.tables import PartitionField, TableColumn, TableName
from service.policies.live_policies import LivePolicies
from service.ports.bounded_calls import Answer, BoundedCalls
from service.query.execution.validate import validate
from service.query.explaining.explain import explain, plans_of
from service.query.filtering.detection.detected import Detected
from service.query.filtering.detection.detections import DetectionBounds, Detections
from service.query.filtering.detection.in_process import InProcess
from service.query.filtering.detection.look_for_filters import ready
from service.query.filtering.detection.read_text import TextReader, is_short, read_apart
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.policy_store import FakePolicyStore
from tests.fakes.probe_values import FakeProbeValues
from tests.fakes.query_records import filtered_record
from tests.fakes.views import FakeViews
from tests.unit.query.constructs import CONSTRUCTS

SIZES = (8, 16, 32, 64, 128, 256, 512, 1_024)
MAX_BYTES = 256 * 1024
# The slowest text takes a quarter of this on an idle machine.
MAX_CPU_S = 2.0
# For shorter times, the clock is too coarse.
SHORT_S = 0.25
READINGS = 3
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def calls() -> Iterator[BoundedProcesses]:
    made = BoundedProcesses(1, PATIENCE_S, (ready, ()))
    yield made
    made.close()


def cpu_s(answer: Answer, sql: str) -> tuple[float, int]:
    """Returns the CPU time to read a text, and the size of the result in bytes.

    A reading that takes long is repeated, and the shortest counts: one alone may have paid for a collection
    of garbage that others left.
    """
    least_s = math.inf
    for _ in range(READINGS):
        began = time.process_time()
        found = read_apart(answer, sql, "UTC")
        least_s = min(least_s, time.process_time() - began)
        if least_s < SHORT_S:
            break
    return least_s, len(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_twice_the_text_is_read_in_about_twice_the_time(construct: str, calls: BoundedProcesses) -> None:
    before_s = before_bytes = None
    for size in SIZES:
        sql = CONSTRUCTS[construct](size)
        try:
            validate(sql, MAX_BYTES)
        except CallerError as refused:
            assert refused.detail  # noqa: PT017
            break
        took_s, byte_count = calls.call(cpu_s, sql)
        assert took_s < MAX_CPU_S
        if before_s is not None and before_bytes is not None:
            assert byte_count <= 3 * before_bytes + 4_096
            assert took_s <= 3 * before_s + SHORT_S
        before_s, before_bytes = took_s, byte_count


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 500 + "1" + ")" * 500,
        "SELECT " + "[" * 500,
        "SELECT " + "CASE WHEN a THEN " * 300 + "1" + " END" * 300,
        "SELECT CAST(a AS " + "ARRAY<" * 199 + "INT" + ">" * 199 + ")",
        "SELECT CAST(a AS " + "MAP<INT, " * 60 + "INT" + ">" * 60 + ")",
        "SELECT CAST(a AS " + "STRUCT<a: DECIMAL(1, 2), b: " * 60 + "INT" + ">" * 60 + ")",
        "SELECT 1 " + "/* " * 40 + "*/ " * 40,
        "SELECT 1 " + "/* " * 4_000,
    ],
)
def test_what_the_engine_cannot_take_either_is_refused(sql: str) -> None:
    with pytest.raises(SqlTooDeep, match="within one another"):
        validate(sql, MAX_BYTES)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + ", ".join(f"CAST(a{number} AS ARRAY<MAP<INT, ARRAY<INT>>>)" for number in range(200)),
        "SELECT 1 FROM t WHERE " + " AND ".join("t.map < 1" for _ in range(500)),
        "SELECT " + ", ".join("'/*'" for _ in range(500)),
        "SELECT 1 " + "/* a */ " * 2_000,
        "SELECT " + ", ".join("f((1))" for _ in range(1_000)),
        "SELECT " + ", ".join("CASE WHEN a THEN 1 END" for _ in range(1_000)),
    ],
)
def test_what_is_long_and_flat_is_not_refused(sql: str) -> None:
    validate(sql, MAX_BYTES)


def detections(calls: BoundedCalls) -> Detections:
    columns = tuple(
        TableColumn(number, name, "int", is_required=False) for number, name in enumerate("abckx", 1)
    )
    tables = [
        facts_of_empty_table(
            TableName("lake", "shop", table), columns, (PartitionField("a", "a", "identity"),)
        )
        for table in ("t", "d")
    ]
    bounds = DetectionBounds(
        max_build_rows=1_000, catalog_names=frozenset({"lake"}), session={"timeZone": "UTC"}
    )
    return Detections(FakeCatalogs(tables=tables), FakeViews(), FakeProbeValues(), FakeClock(), bounds, calls)


def asked(sql: str) -> QueryRequest:
    return QueryRequest(sql, catalog="lake", schema="shop")


JOINED = (
    "SELECT 1 FROM t JOIN d ON t.a = d.k WHERE d.x IN (1, 2, 3) AND t.b + t.c = 7 AND d.a BETWEEN 3 AND 4"
)


def test_filters_that_are_found_apart_are_those_that_are_found_here(calls: BoundedProcesses) -> None:
    apart, here = (
        detections(calls).of(asked(JOINED), FULL_ACCESS),
        detections(InProcess()).of(asked(JOINED), FULL_ACCESS),
    )
    assert isinstance(apart, Detected)
    assert isinstance(here, Detected)
    assert apart.detection == here.detection
    assert apart.parsed == here.parsed


SLOW = [
    # Each level is analyzed once more for each level around it.
    "SELECT a FROM (" * 90 + "SELECT a FROM t" + ") x JOIN d ON x.a = d.k AND d.x = 1" * 90,
    "WITH c0 AS (SELECT a FROM t), "
    + ", ".join(
        f"c{number + 1} AS (SELECT a FROM c{number} UNION ALL SELECT a FROM c{number})"
        for number in range(60)
    )
    + " SELECT * FROM c60 JOIN d ON a = k WHERE d.x = 1",
    "SELECT 1 FROM t WHERE " + "a IN (SELECT a FROM t WHERE " * 150 + "a = 1" + ")" * 150,
]


@pytest.mark.parametrize("sql", SLOW)
def test_a_text_that_takes_too_long_says_so_once_and_others_are_served(sql: str) -> None:
    made = BoundedProcesses(1, 1.0, (ready, ()))
    try:
        found = detections(made)
        while found.of(asked(JOINED), FULL_ACCESS) is Reason.TOO_COMPLEX:
            # The process may still be starting.
            found = detections(made)
        slow = found.of(asked(sql), FULL_ACCESS)
        assert slow is Reason.TOO_COMPLEX or isinstance(slow, Detected)
        again = found.of(asked(sql), FULL_ACCESS)
        assert type(again) is type(slow)
    finally:
        made.close()


def test_short_texts_wait_for_nobody() -> None:
    class Closed(BoundedProcesses):
        def __init__(self) -> None:
            super().__init__(0, 1.0, (ready, ()))

    reader = TextReader(Closed(), "UTC", 64 << 20)
    assert not isinstance(reader.read("SELECT 1 FROM t JOIN d ON t.a = d.k WHERE d.x = 1"), Reason)
    assert reader.read("SELECT 1 FROM t WHERE " + " AND ".join(["a = 1"] * 50)) is Reason.TOO_COMPLEX


def test_plans_that_are_drawn_apart_are_those_that_are_drawn_here(calls: BoundedProcesses) -> None:
    record = filtered_record(JOINED)
    assert explain(record, calls).plans == plans_of(record)
    assert plans_of(record) is not None


def test_plans_are_drawn_apart_under_policies(calls: BoundedProcesses) -> None:
    policies = LivePolicies(FakePolicyStore(policies=PolicySet()), FakeClock())
    policies.refresh()
    rights = policies.access_of(Principal("kim", PrincipalKind.KEY, roles=frozenset({"reader"})))
    record = replace(filtered_record(JOINED), access=rights)
    assert not is_short(record.sql)
    assert explain(record, calls).plans == plans_of(record)


def test_plans_of_a_text_that_takes_too_long_are_left_out() -> None:
    slow = filtered_record(SLOW[0])
    made = BoundedProcesses(0, 0.01, (ready, ()))
    assert explain(slow, made).plans is None


class _Counted:
    """Answers each call at once, and lists the texts."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def call(self, function: object, sql: str, *_: object) -> Reason:  # noqa: ARG002
        self.read.append(sql)
        return Reason.TOO_COMPLEX


def test_trees_of_large_texts_make_room_for_one_another() -> None:
    calls = _Counted()
    reader = TextReader(cast(BoundedCalls, calls), "UTC", 64 << 20)
    texts = [f"SELECT {number} {'x' * MAX_BYTES}" for number in range(6)]
    for sql in (*texts, texts[-1], texts[0]):
        reader.read(sql)
    # The last text is still cached, and the first is not.
    assert calls.read == [*texts, texts[0]]
