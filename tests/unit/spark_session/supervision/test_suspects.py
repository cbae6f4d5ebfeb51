"""Queries that ran when an engine was lost: those that killed it, and innocent ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from service.errors.query_errors import QueryQuarantined
from service.errors.unavailable import EngineLost
from service.model.policies.decisions import FULL_ACCESS
from service.ports.engine.query_engine import Statement
from spark_session.engine.engine_calls import EngineCalls
from spark_session.java.calls import Call, Calls
from spark_session.settings.settings import SparkSettings
from spark_session.supervision.session_keeper import SessionKeeper
from spark_session.supervision.suspects import TRIAL_S, Suspects
from spark_session.supervision.verdict import EngineBounds


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def suspects(clock: Clock) -> Suspects:
    return Suspects(300.0, clock)


def is_quarantined(suspects: Suspects, text: str) -> bool:
    try:
        suspects.check(text)
    except QueryQuarantined:
        return True
    return False


def never() -> bool:
    return False


def test_a_text_that_ran_alone_is_not_run_again_by_itself_but_may_be_sent_again(suspects: Suspects) -> None:
    suspects.note_loss(["a"])
    lost = suspects.of_loss("a")
    assert not lost.may_run_again
    assert "nothing else did" in lost.detail
    assert not is_quarantined(suspects, "a")


def test_a_text_that_ran_alone_and_had_succeeded_before_is_run_again(suspects: Suspects) -> None:
    suspects.note_success("a")
    suspects.note_loss(["a"])
    assert suspects.of_loss("a").may_run_again


class SlowCalls(Calls):
    """Calls whose loss takes a while to note, during which another thread notes it too."""

    def __init__(self, other: threading.Thread) -> None:
        super().__init__()
        self._other = other

    def lose(self) -> Sequence[Call] | None:
        lost = super().lose()
        if lost is not None:
            self._other.start()
            self._other.join(0.2)
        return lost


def test_each_thread_that_notices_a_loss_knows_who_ran_alone(suspects: Suspects) -> None:
    seen: list[EngineLost] = []

    def also_notices() -> None:
        suspects.note_loss_of(calls)
        seen.append(suspects.of_loss("a"))

    other = threading.Thread(target=also_notices)
    calls = SlowCalls(other)
    with calls.under_way("a", never):
        suspects.note_loss_of(calls)
        seen.append(suspects.of_loss("a"))
        other.join()
    assert [lost.may_run_again for lost in seen] == [False, False]


@pytest.mark.parametrize("queries", [["a"], ["a", "a"], ["a", "b"], []])
@pytest.mark.parametrize("reads", [[], ["r"], ["r", "s"], ["a"]])
def test_a_read_in_the_background_is_no_company(
    suspects: Suspects, queries: list[str], reads: list[str]
) -> None:
    calls = Calls()
    with ExitStack() as stack:
        for text in queries:
            stack.enter_context(calls.under_way(text, never))
        for text in reads:
            stack.enter_context(calls.under_way(text, never, is_background=True))
        suspects.note_loss_of(calls)
    for text in {*queries, *reads}:
        is_alone = {text} == set(queries)
        assert suspects.of_loss(text).may_run_again is not is_alone
        suspects.note_loss([], background=[text])
        assert is_quarantined(suspects, text), "it ran at two losses"


def test_texts_that_ran_beside_each_other_are_run_again(suspects: Suspects) -> None:
    suspects.note_loss(["a", "b"])
    assert suspects.of_loss("a").may_run_again
    assert suspects.of_loss("b").may_run_again


@pytest.mark.parametrize("is_known", [False, True])
def test_a_text_that_ran_at_two_losses_is_not_run_for_a_while(
    suspects: Suspects, clock: Clock, is_known: bool
) -> None:
    if is_known:
        suspects.note_success("a")
    for others in (["b"], ["c"]):
        suspects.note_loss(["a", *others])
    assert is_quarantined(suspects, "a")
    assert not suspects.of_loss("a").may_run_again
    assert not is_quarantined(suspects, "b")
    clock.now_s = 299.5
    with pytest.raises(QueryQuarantined) as raised:
        suspects.check("a")
    assert raised.value.retry_after_s == 1
    clock.now_s = 301.0
    assert not is_quarantined(suspects, "a")


def test_a_success_between_two_losses_clears_a_text(suspects: Suspects) -> None:
    suspects.note_loss(["a", "b"])
    suspects.note_success("a")
    suspects.note_loss(["a", "c"])
    assert not is_quarantined(suspects, "a")


def test_known_culprits_are_not_run_for_a_while_and_those_beside_them_are_not_suspected(
    suspects: Suspects,
) -> None:
    suspects.note_success("a")
    for _ in range(3):
        suspects.note_loss(["a", "b"], culprits=["a"])
    assert is_quarantined(suspects, "a")
    assert suspects.of_loss("b").may_run_again
    assert not is_quarantined(suspects, "b")


def _engine_of(
    suspects: Suspects, killers: Sequence[str], running: Callable[[], Sequence[str]]
) -> tuple[list[str], int]:
    """Runs suspects in turn, as the engine does; returns the answered ones, and the number of losses."""
    answered, losses = [], 0
    for text in running():
        if is_quarantined(suspects, text):
            continue
        with suspects.turn(text, never):
            if text in killers:
                suspects.note_loss([text])
                losses += 1
            else:
                suspects.note_success(text)
                answered.append(text)
    return answered, losses


def test_innocents_beside_two_killers_are_answered(suspects: Suspects) -> None:
    texts = ["killer 1", "innocent 1", "killer 2", "innocent 2"]
    suspects.note_loss(texts)
    answered, losses = _engine_of(suspects, texts[::2], lambda: texts)
    assert (answered, losses) == (texts[1::2], 2)
    assert [text for text in texts if is_quarantined(suspects, text)] == texts[::2]


def test_suspects_run_one_at_a_time_and_all_others_at_once(suspects: Suspects, clock: Clock) -> None:
    suspects.note_loss(["a", "b"])
    begun = threading.Event()

    def second() -> None:
        with suspects.turn("b", never):
            begun.set()

    waiting = threading.Thread(target=second)
    with suspects.turn("a", never):
        waiting.start()
        with suspects.turn("innocent", never):
            assert not begun.is_set()
        # A suspect that runs for long lets the next one start.
        clock.now_s = TRIAL_S
        assert begun.wait(20)
    waiting.join()


def test_a_suspect_that_is_canceled_waits_for_no_turn(suspects: Suspects) -> None:
    suspects.note_loss(["a", "b"])
    with suspects.turn("a", never):
        passed: list[str] = []
        waiting = threading.Thread(target=lambda: _pass(suspects, "b", passed))
        waiting.start()
        waiting.join(20)
        assert passed == ["b"]


def _pass(suspects: Suspects, text: str, passed: list[str]) -> None:
    with suspects.turn(text, lambda: True):
        passed.append(text)


def test_a_text_that_ran_while_an_engine_was_lost_is_not_rehearsed(suspects: Suspects) -> None:
    suspects.check_rehearsal("a")
    suspects.note_success("a")
    suspects.note_loss(["a", "b"])
    assert not is_quarantined(suspects, "a")
    with pytest.raises(QueryQuarantined):
        suspects.check_rehearsal("a")


def test_a_rehearsal_does_not_prove_that_a_text_is_harmless(suspects: Suspects, tmp_path: Path) -> None:
    keeper = SessionKeeper(SparkSettings("local[1]", (), tmp_path), EngineBounds(), suspects, 1.0)
    calls = EngineCalls(keeper, suspects)
    asked = Statement(uuid4(), "SELECT 1", (), None, None, 1, 1, never, FULL_ACCESS)
    text = asked.text_fingerprint()
    suspects.note_loss([text])
    calls.note_success(replace(asked, is_rehearsal=True))
    assert not suspects.of_loss(text).may_run_again
    calls.note_success(asked)
    assert suspects.of_loss(text).may_run_again
