from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from service.authentication.last_uses import MAX_KEYS, LastUses
from service.errors.unavailable import MetricsStoreDown

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Written:
    def __init__(self) -> None:
        self.uses: list[Mapping[str, datetime]] = []
        self.is_down = False

    def write(self, uses: Mapping[str, datetime]) -> None:
        if self.is_down:
            raise MetricsStoreDown
        self.uses.append(uses)


def test_many_uses_of_a_key_are_written_once() -> None:
    written = Written()
    uses = LastUses(written.write)
    for second in range(1000):
        uses.note("a", NOON + timedelta(seconds=second))
    uses.flush()
    uses.flush()
    assert written.uses == [{"a": NOON + timedelta(seconds=999)}]


def test_what_could_not_be_written_is_written_later_unless_there_was_a_later_use() -> None:
    written = Written()
    written.is_down = True
    uses = LastUses(written.write)
    uses.note("a", NOON)
    uses.note("b", NOON)
    uses.flush()
    uses.note("a", NOON + timedelta(seconds=1))
    written.is_down = False
    uses.flush()
    assert written.uses == [{"a": NOON + timedelta(seconds=1), "b": NOON}]


def test_memory_is_bounded() -> None:
    written = Written()
    uses = LastUses(written.write)
    for number in range(MAX_KEYS + 5):
        uses.note(str(number), NOON)
    uses.flush()
    assert len(written.uses[0]) == MAX_KEYS


def test_memory_is_bounded_while_the_store_is_down() -> None:
    written = Written()
    written.is_down = True
    uses = LastUses(written.write)
    for batch in ("a", "b"):
        for number in range(MAX_KEYS):
            uses.note(f"{batch}{number}", NOON)
        uses.flush()
    written.is_down = False
    uses.flush()
    assert len(written.uses[0]) == MAX_KEYS


def test_the_last_of_them_are_written_at_the_end() -> None:
    written = Written()
    uses = LastUses(written.write, every_s=60)
    uses.start()
    uses.note("a", NOON)
    uses.close()
    assert written.uses == [{"a": NOON}]
