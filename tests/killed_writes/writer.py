"""A client that sends one statement after the other to a table of its own, until a kill ends one of them."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import httpx

from tests.killed_writes.changes import Change, Changes, Rows
from tests.killed_writes.place import KillPlace

TIMEOUT_S = 120
RETRIES_WITHIN_S = 180.0
PAUSE_S = 0.5
# The gateway or its engine is not there yet.
LATER = frozenset({"ENGINE_NOT_READY", "ENGINE_LOST", "SHUTTING_DOWN", "CATALOG_DOWN", "METRICS_STORE_DOWN"})
ENDS = LATER | {"WRITE_RUNNING", "WRITE_FAILED", "WRITE_OUTCOME_UNKNOWN", "REPLICA_LOST"}
"""The codes of statements that a kill has ended, and of their repeats."""


@dataclass
class Writer:
    """Knows which rows its table has, and which statement it does not know the end of.

    `answer` is what the gateway has said of that statement, if it has.
    """

    table: str
    changes: Changes
    place: KillPlace
    seen: Counter[str]
    rows: Rows | None = None
    pending: Change | None = None
    answer: dict[str, Any] | None = None
    refused: list[Change] = field(default_factory=list)
    done: int = 0

    def write_until(self, ended: Event) -> None:
        """Sends statements until one of them has no answer, or a bad one."""
        with self.place.running.client_with() as client:
            while not ended.is_set():
                self.pending = self.changes.next(self.rows)
                try:
                    self.answer = _ended(client, self._sent(client, self.pending))
                except httpx.TransportError:
                    self.answer = None
                    return
                if not _has_succeeded(self.answer):
                    return
                self.rows, self.pending = self.pending.after, None
                self.done += 1

    def check(self) -> None:
        """Asserts that the statement that was interrupted has happened whole or not at all.

        The answer that was given to it must be true, and so must the one that its repeat gets.
        """
        change = self.pending
        if change is None:
            self._assert_rows(self.rows)
            return
        left = self.place.rows(self.table)
        is_after = left == _listed(change.after)
        about = f"{change.sql}\nleft {left}\nbefore {_listed(change.before)}\nafter {_listed(change.after)}"
        assert is_after or left == _listed(change.before), about
        if self.answer is not None:
            _assert_true(self.answer, change, is_after=is_after)
        changes_nothing = _listed(change.before) == _listed(change.after)
        repeat, is_now = self._repeated(change)
        kind = change.sql.split("lake")[0].strip()
        self.seen[f"{kind}: {'whole' if is_after else 'not at all'}; its repeat: {_words(repeat)}"] += 1
        if is_after and change.has_snapshot and not changes_nothing:
            assert _has_succeeded(repeat), (about, repeat)
        if _has_succeeded(repeat):
            assert is_now, (about, repeat)
        elif _code(repeat) not in ENDS:
            raise AssertionError(f"{about}\n{self.answer}\n{repeat}")
        else:
            # It is not in the table, and never will be: the next statement is sent under a new requestId.
            self.refused.append(change)
        self.rows, self.pending, self.answer = (change.after if is_now else change.before), None, None
        self.seen["interrupted"] += 1

    def check_refused(self) -> None:
        """Asserts that nothing which was refused has been committed since."""
        self._assert_rows(self.rows)

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
        now = self.place.rows(self.table)
        assert now in (_listed(change.before), _listed(change.after)), (change.sql, answer, now)
        return answer, now == _listed(change.after)

    def _assert_rows(self, rows: Rows | None) -> None:
        left = self.place.rows(self.table)
        assert left == _listed(rows), (self.table, left, _listed(rows))

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
    changes_nothing = _listed(change.before) == _listed(change.after)
    if changes_nothing:
        return
    state = _state(answer)
    if state == "COMMITTED" or _has_succeeded(answer):
        assert is_after, (change.sql, answer)
    elif state in (None, "NOT_COMMITTED"):
        assert not is_after, (change.sql, answer)


def _listed(rows: Rows | None) -> list[tuple[int, int]] | None:
    return None if rows is None else sorted(rows.items())
