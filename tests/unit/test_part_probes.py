"""Parts report their health, or count as down when they do not in time."""

from __future__ import annotations

import threading

from service.model.operations.health import PartHealth, PartState
from service.part_probes import PartProbes
from tests.fakes.engine import PATIENCE_S

UP = PartHealth("store", PartState.UP)


def test_a_part_that_hangs_is_down_and_the_others_are_what_they_say() -> None:
    gate, asked = threading.Event(), []

    def hang() -> list[PartHealth]:
        asked.append(1)
        gate.wait(PATIENCE_S)
        return [PartHealth("catalog:lake", PartState.UP)]

    probes = PartProbes({"store": lambda: [UP], "catalogs": hang}, 0.2)
    try:
        for _ in range(3):
            store, catalogs = probes.ask()
            assert (store, catalogs.name, catalogs.state) == (UP, "catalogs", PartState.DOWN)
        # Later calls wait for the running check, and start no other thread.
        assert len(asked) == 1
    finally:
        gate.set()


def test_a_check_that_fails_is_a_part_that_is_down() -> None:
    def fail() -> list[PartHealth]:
        raise RuntimeError("a fault of ours")

    [part] = PartProbes({"store": fail}, PATIENCE_S).ask()
    assert (part.name, part.state) == ("store", PartState.DOWN)
