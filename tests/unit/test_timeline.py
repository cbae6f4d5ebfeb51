"""Which group a test belongs to, and what a run says of its groups."""

from __future__ import annotations

import pytest

from tests.scopes import LONGEST, group_of, turn_of
from tests.timeline import Timeline


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/equivalence/texts/test_words.py::test_a[x/y]", "equivalence/texts"),
        ("tests/unit/api/http/test_tls.py::test_a", "unit/api"),
        ("tests/unit/test_circuit.py::test_a", "unit/test_circuit.py"),
        ("tests/integration/hive/test_beeline.py::test_a", "integration/hive"),
        ("tests/integration/test_demo.py::test_a", "integration/test_demo.py"),
        ("tests/refresh/test_policies.py::test_a", "refresh"),
    ],
)
def test_tests_of_a_group_share_what_is_slow_to_start(nodeid: str, group: str) -> None:
    assert group_of(nodeid) == group


def test_the_longest_groups_start_first() -> None:
    groups = ["chart", *LONGEST[::-1], "unit/api"]
    assert sorted(groups, key=turn_of)[: len(LONGEST)] == list(LONGEST)


def test_a_group_is_shown_with_its_time_and_process() -> None:
    timeline = Timeline(group_of)
    for name, start_s, worker in (("a", 60.0, "gw0"), ("b", 90.0, "gw0"), ("c", 60.0, "gw1")):
        folder = "chart" if name == "c" else "deploy"
        timeline.add(_called(f"tests/{folder}/test_{name}.py::test_it", start_s), worker)
    assert [line.split() for line in timeline.lines()] == [
        ["0.0", "to", "1.0", "min", "gw0", "2", "tests", "deploy"],
        ["0.0", "to", "0.5", "min", "gw1", "1", "tests", "chart"],
    ]


def test_a_run_in_one_process_shows_nothing() -> None:
    assert Timeline(group_of).lines() == []


def _called(nodeid: str, start_s: float) -> pytest.TestReport:
    place = (nodeid.partition("::")[0], 1, "test_it")
    return pytest.TestReport(nodeid, place, {}, "passed", None, "call", start=start_s, stop=start_s + 30)
