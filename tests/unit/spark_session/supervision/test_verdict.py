"""The signs of a session's health, and the decisions that follow from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.model.operations.engine_signs import EngineLoss
from spark_session.supervision.verdict import EngineBounds, Signs, judge

BOUNDS = EngineBounds(
    probe_timeout_s=3,
    unresponsive_s=15,
    grace_s=5,
    max_given_up=4,
    given_up_timeout_s=30,
    max_collection_percent=80,
)
HEALTHY = Signs(0.0, None, (), (), slots=4, collection_share=0.1)


@pytest.mark.parametrize(
    ("change", "is_up", "must_be_replaced"),
    [
        ({}, True, False),
        ({"silent_s": 2.9}, True, False),
        ({"silent_s": 3.0}, False, False),
        ({"silent_s": 15.0}, False, True),
        ({"failure": "AnalysisException"}, False, False),
        ({"collection_share": None}, True, False),
        ({"collection_share": 0.79}, True, False),
        ({"collection_share": 0.8}, False, True),
        ({"given_up_calls": (5.0, 5.0, 5.0)}, True, False),
        ({"given_up_calls": (5.0, 5.0, 5.0, 5.0)}, False, True),
        ({"given_up_calls": (5.0, 5.0), "given_up_tasks": (5.0, 5.0)}, False, True),
        # These calls may still end by themselves.
        ({"given_up_calls": (0.0, 1.0, 2.0, 3.0, 4.0, 4.9, 5.0, 5.0, 5.0)}, True, False),
        ({"given_up_calls": (29.9,)}, True, False),
        ({"given_up_calls": (30.0,)}, False, True),
        ({"given_up_tasks": (30.0,)}, False, True),
        # With all slots taken, no query can run a task any more.
        ({"given_up_tasks": (0.0, 0.0), "slots": 2}, False, True),
    ],
)
def test_each_sign_has_its_bound(change: dict[str, Any], is_up: bool, must_be_replaced: bool) -> None:
    verdict = judge(replace(HEALTHY, **change), BOUNDS)
    assert (verdict.is_up, verdict.must_be_replaced) == (is_up, must_be_replaced)
    assert verdict.detail or is_up


@pytest.mark.parametrize(
    ("change", "loss"),
    [
        ({"silent_s": 15.0}, EngineLoss.NOT_RESPONDING),
        ({"collection_share": 0.8}, EngineLoss.GARBAGE_COLLECTION),
        ({"given_up_tasks": (30.0,)}, EngineLoss.GIVEN_UP),
        ({"silent_s": 3.0}, None),
    ],
)
def test_it_is_known_why_an_engine_is_replaced(change: dict[str, Any], loss: EngineLoss | None) -> None:
    assert judge(replace(HEALTHY, **change), BOUNDS).loss is loss


def test_what_was_given_up_is_reported_while_the_engine_is_up() -> None:
    verdict = judge(replace(HEALTHY, given_up_calls=(1.0,), given_up_tasks=(2.0,)), BOUNDS)
    assert verdict.given_up_count == 2
    assert verdict.detail == "Given up and still running: 1 calls, 1 tasks."
