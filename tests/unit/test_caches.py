from __future__ import annotations

import pytest

from service.caches import Caches
from service.errors.cache_errors import CacheNotEmptiable, CacheNotFound
from service.model.operations.usage import CacheUse


def caches() -> Caches:
    found = Caches()
    found.add("tables", lambda: CacheUse(2, 300, 1_000, 9, 4), lambda: 2)
    found.add("results", lambda: CacheUse(1, 50, 100))
    return found


def test_uses_are_in_the_order_of_the_caches() -> None:
    assert [*caches().uses()] == ["tables", "results"]


def test_a_cache_is_emptied_and_a_store_is_not() -> None:
    assert caches().empty("tables") == 2
    assert (caches().is_emptiable("tables"), caches().is_emptiable("results")) == (True, False)
    with pytest.raises(CacheNotEmptiable, match="results"):
        caches().empty("results")


def test_an_unknown_cache_is_none() -> None:
    with pytest.raises(CacheNotFound, match="'plans'"):
        caches().empty("plans")
