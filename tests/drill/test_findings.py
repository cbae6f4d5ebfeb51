"""The drill's verdicts, checked with hand-made answers."""

from __future__ import annotations

from tests.drill.bystander import Answer
from tests.drill.findings import findings

READY = [Answer(number / 4, 0.01, is_right=True) for number in range(400)]


def _probes(began_s: float, ended_s: float) -> list[Answer]:
    return [Answer(answer.began_s, 0.01, not began_s <= answer.began_s < ended_s) for answer in READY]


def test_a_late_answer_of_a_gateway_that_says_that_it_is_ready_breaks_the_promise() -> None:
    late = Answer(10, 6, is_right=True)
    assert findings([late], READY, 5).broken == [late]
    wrong = Answer(10, 0.1, is_right=False)
    assert findings([wrong], _probes(20, 30), 5).broken == [wrong]


def test_a_late_answer_of_a_gateway_that_says_that_it_is_not_ready_does_not() -> None:
    found = findings([Answer(10, 6, is_right=False), Answer(40, 1, is_right=True)], _probes(14, 30), 5)
    assert found.broken == []
    assert (round(found.longest_s), round(found.not_ready_s), found.worst_s) == (16, 16, 1)
