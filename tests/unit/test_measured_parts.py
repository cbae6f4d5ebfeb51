"""The benchmarks' stopwatch finds each part of the product that it names."""

from __future__ import annotations

import pytest

from bench import pruning_step, select_one_parts
from bench.stopwatch import Part, Stopwatch


@pytest.mark.parametrize(
    "parts", [pruning_step.PARTS, select_one_parts.PARTS], ids=["pruning step", "select 1"]
)
def test_every_part_is_still_there(parts: tuple[Part, ...]) -> None:
    watch = Stopwatch()
    with watch.on(parts):
        pass
    assert watch.gone == []
