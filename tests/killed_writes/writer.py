"""A client that sends one statement after the other to a table of its own, until a kill ends one of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Event
from typing import Any

import httpx

from tests.killed_writes.changes import Change, Changes, Content, listed
from tests.killed_writes.place import KillPlace
from tests.killed_writes.tally import Tally

TIMEOUT_S = 240
RETRIES_WITHIN_S = 180.0
PAUSE_S = 0.5
# The gateway or its engine is not there yet.
LATER = frozenset({"ENGINE_NOT_READY", "ENGINE_LOST", "SHUTTING_DOWN", "CATALOG_DOWN", "METRICS_STORE_DOWN"})
ENDS = LATER | {"WRITE_RUNNING", "WRITE_FAILED", "WRITE_OUTCOME_UNKNOWN", "REPLICA_LOST"}
"""The codes of statements that a kill has ended, and of their repeats."""


@dataclass
class Writer:
    """Knows what its table has, and which statement it does not know the end of.

    `answer` is what the gateway has said of that statement, if it has.
    """

    table: str
    changes: Changes
    place: KillPlace
    content: Content | None
    pending: Change | None = None
    answer: dict[str, Any] | None = None
    done: int = 0

    def write_until(self, ended: Event) -> None:
        """Sends statements until one of them has no answer, or a bad one."""
        with self.place.running.client_with() as client:
            while not ended.is_set():
                self.pending = self.changes.next(self.content)
                try:
                    self.answer = _ended(client, self._sent(client, self.pending))
                except httpx.TransportError:
                    self.answer = None
                    return
                if not _has_succeeded(self.answer):
                    return
                _assert_rows_affected(self.answer, self.pending)
                self.content, self.pending = self.pending.after, None
                self.done += 1

    def check(self, kill: str, tally: Tally) -> None:
        """Asserts that the statement that was interrupted has happened whole or not at all.

        The answer that was given to it must be true, and so must the one that its repeat gets.
        """
        change = self.pending
        if change is None:
            self.check_content()
            return
        left = self.place.found(self.table)
        is_after = left == listed(change.after)
        about = (
            f"{change.sql}\nkilled: {kill}, {change.shape}\nanswer {self.answer}\nleft {left}\n"
            f"before {listed(change.before)}\nafter {listed(change.after)}"
        )
        assert is_after or left == listed(change.before), about
        if self.answer is not None:
            _assert_true(self.answer, change, is_after=is_after)
        repeat, is_now = self._repeated(change)
        about = f"{about}\nrepeat {repeat}"
        tally.end(change, kill, is_applied=is_after, said=_words(repeat))
        if is_after and change.has_snapshot and not change.changes_nothing:
            assert _has_succeeded(repeat), about
        if _has_succeeded(repeat):
            assert is_now, about
            _assert_rows_affected(repeat, change)
        else:
            # A refused statement is not in the table, and never will be: `check_content` looks for it later.
            assert _code(repeat) in ENDS, about
        self.content, self.pending, self.answer = (change.after if is_now else change.before), None, None

    def check_content(self) -> None:
        """Asserts that the table has what it should have: nothing of what was refused."""
        left = self.place.found(self.table)
        assert left == listed(self.content), (self.table, left, listed(self.content))

    def _repeated(self, change: Change) -> tuple[dict[str, Any], bool]:
        """Returns the answer to the same request, and whether the table has its rows then."""
        with self.place.running.client_with() as client:
            until_s = time.monotonic() + RETRIES_WITHIN_S
            while True:
                answer = _ended(client, self._sent(client, change))
                # An accepted query that has ended is the answer for ever, whatever it ended with.
                is_refused = _code(answer) in LATER and "queryId" not in answer
                if not is_refused or time.monotonic() > until_s:
                    break
                Event().wait(PAUSE_S)
        now = self.place.found(self.table)
        assert now in (listed(change.before), listed(change.after)), (change.sql, answer, now)
        return answer, now == listed(change.after)

    def _sent(self, client: httpx.Client, change: Change) -> httpx.Response:
        return client.post(
            "/query",
            json={
                "sql": change.sql,
                "requestId": change.request_id,
                "timeout": f"{TIMEOUT_S}s",
                "waitTimeout": "50s",
            },
        )


def _ended(client: httpx.Client, answer: httpx.Response) -> dict[str, Any]:
    for _ in range(5):
        if answer.status_code != 202:
            break
        answer = client.get(answer.json()["links"]["self"], params={"waitTimeout": "50s"})
    found: dict[str, Any] = answer.json()
    return found


def _has_succeeded(answer: dict[str, Any]) -> bool:
    status = answer.get("status")
    return isinstance(status, dict) and status["state"] == "SUCCEEDED"


def _state(answer: dict[str, Any]) -> str | None:
    write = answer.get("write")
    return None if write is None else str(write["state"])


def _code(answer: dict[str, Any]) -> str | None:
    """Returns the code of its error: of a problem, or of a query that has ended."""
    status = answer.get("status")
    found = (status.get("error") or {}).get("code") if isinstance(status, dict) else answer.get("code")
    return None if found is None else str(found)


def _words(answer: dict[str, Any]) -> str:
    return "SUCCEEDED" if _has_succeeded(answer) else f"{_code(answer)} {_state(answer)}"


def _assert_true(answer: dict[str, Any], change: Change, *, is_after: bool) -> None:
    """Asserts that what the gateway said of a statement is what its table has."""
    if change.changes_nothing:
        return
    state = _state(answer)
    if state == "COMMITTED" or _has_succeeded(answer):
        assert is_after, (change.sql, answer)
    elif state in (None, "NOT_COMMITTED"):
        assert not is_after, (change.sql, answer)


def _assert_rows_affected(answer: dict[str, Any], change: Change) -> None:
    affected = answer["write"].get("rowsAffected")
    if affected is not None and change.rows is not None:
        assert affected == change.rows, (change, answer)
