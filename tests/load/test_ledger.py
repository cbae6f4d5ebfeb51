"""The load's verdicts, checked with hand-made data."""

from __future__ import annotations

import json
from pathlib import Path

from tests.load.ledger import Ledger
from tests.load.memory import is_flat


def read(tmp_path: Path, *lines: dict[str, object]) -> Ledger:
    path = tmp_path / "ledger.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Ledger.read(path)


def test_acknowledged_records_have_to_be_there_once_and_others_may(tmp_path: Path) -> None:
    ledger = read(
        tmp_path,
        {"kind": "sent", "numbers": [1, 2]},
        {"kind": "accepted", "numbers": [1, 2]},
        {"kind": "sent", "numbers": [3]},
        {"kind": "refused", "name": "star", "status": 429, "code": "TOO_MANY_QUERIES"},
    )
    assert ledger.refusals == {"429 TOO_MANY_QUERIES": 1}
    assert ledger.refused_kinds == {"star": 1}
    assert list(ledger.faults([1, 2], [])) == []
    assert list(ledger.faults([1, 2, 3], [])) == []
    assert list(ledger.faults([1, 3], [])) == ["1 acknowledged records are lost"]
    assert list(ledger.faults([1, 2, 2], [])) == ["1 records are there twice"]
    assert list(ledger.faults([1, 2, 4], [])) == ["1 records are there that nobody sent"]


def test_a_key_has_the_last_turn_that_was_acknowledged_or_a_later_one(tmp_path: Path) -> None:
    ledger = read(
        tmp_path,
        {"kind": "sent", "keys": [7], "turn": 1},
        {"kind": "accepted", "keys": [7], "turn": 1},
        {"kind": "sent", "keys": [7], "turn": 2},
    )
    assert list(ledger.faults([], [(7, 1)])) == []
    assert list(ledger.faults([], [(7, 2)])) == []
    assert list(ledger.faults([], [])) == ["key 7 is at turn None, and 1 was acknowledged"]
    assert list(ledger.faults([], [(7, 1), (7, 1)])) == ["1 keys are there twice"]


def test_memory_that_goes_on_growing_is_not_flat() -> None:
    assert is_flat([100, 400, 500, 510, 505, 520])
    assert not is_flat([100, 200, 300, 400, 500, 600])
