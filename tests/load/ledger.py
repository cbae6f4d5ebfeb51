"""The answers that callers got, compared with the contents of the tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Rows = list[tuple[int, int]]


@dataclass
class Ledger:
    """The numbers and keys that were sent and acknowledged, and refusals by code."""

    sent: set[int] = field(default_factory=set)
    accepted: set[int] = field(default_factory=set)
    sent_turns: dict[int, set[int]] = field(default_factory=dict)
    accepted_turns: dict[int, int] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    refused_kinds: Counter[str] = field(default_factory=Counter)
    """Refusals by the kind of the request."""

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Reads the file that callers have written."""
        ledger = cls()
        for line in path.read_text().splitlines():
            ledger._take(json.loads(line))
        return ledger

    def faults(self, numbers: list[int], turns: Rows) -> Iterator[str]:
        """Yields the faults in the rows of the appended table, and of the table with keys."""
        there = set(numbers)
        if len(numbers) != len(there):
            yield f"{len(numbers) - len(there)} records are there twice"
        if lost := self.accepted - there:
            yield f"{len(lost)} acknowledged records are lost"
        if strange := there - self.sent:
            yield f"{len(strange)} records are there that nobody sent"
        by_key = dict(turns)
        if len(by_key) != len(turns):
            yield f"{len(turns) - len(by_key)} keys are there twice"
        for key, turn in self.accepted_turns.items():
            later = {later_turn for later_turn in self.sent_turns[key] if later_turn > turn}
            if by_key.get(key) not in {turn, *later}:
                yield f"key {key} is at turn {by_key.get(key)}, and {turn} was acknowledged"

    def _take(self, line: dict[str, object]) -> None:
        match line:
            case {"kind": "refused", "status": status, "code": code}:
                self.refusals[f"{status} {code}"] += 1
                self.refused_kinds[str(line.get("name", ""))] += 1
            case {"kind": kind, "numbers": list(numbers)}:
                (self.sent if kind == "sent" else self.accepted).update(numbers)
            case {"kind": "sent", "keys": list(keys), "turn": int(turn)}:
                for key in keys:
                    self.sent_turns.setdefault(key, set()).add(turn)
            case {"kind": "accepted", "keys": list(keys), "turn": int(turn)}:
                self.accepted_turns |= dict.fromkeys(keys, turn)
