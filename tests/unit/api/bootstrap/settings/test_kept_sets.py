"""Filters have families only if the settings let key sets keep rows."""

from __future__ import annotations

import pytest

from api.bootstrap.settings import Settings
from api.bootstrap.wiring.build_pruner import detection_bounds


@pytest.mark.parametrize("number", [None, 0, 1])
def test_families_are_looked_for_if_sets_keep_rows(number: int | None) -> None:
    settings = Settings() if number is None else Settings(dynamic_filtering_kept_sets=number)
    assert detection_bounds(settings, frozenset({"lake"})).is_keeping_rows == bool(number)
