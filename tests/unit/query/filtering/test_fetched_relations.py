from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

import pyarrow as pa

from service.errors.unavailable import EngineLost
from service.model.filters.dynamic_filter import Build
from service.model.filters.key_set import DynamicFilteringData
from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import Parameter
from service.model.tables.tables import TableName
from service.ports.filters.filter_keys import KeysAndRows
from service.query.filtering.fetched_relations import ASKED_BEFORE_FETCHED_BESIDE_WIDER, LocalRelations
from tests.fakes.relations import BYTES_PER_ROW, FakeRelations

DAYS = Build((TableName("lake", "shop", "days"),), ("k",), "year = 2000", (3,))
BOUNDS = RelationBounds(max_rows=10, max_bytes=100 * BYTES_PER_ROW)


class Later(Executor):
    """An executor that runs its calls when the test says so."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, lambda: fn(*args, **kwargs)))
        return future

    def work(self) -> int:
        waiting, self._waiting = self._waiting, []
        for future, call in waiting:
            future.set_result(call())
        return len(waiting)


def query(key: str, *parameters: str) -> RelationQuery:
    return RelationQuery(DAYS, "SELECT …", key, frozenset(parameters))


WHOLE = query("whole")


def under(condition: str) -> RelationQuery:
    """Returns the rows of a small table under a condition."""
    return replace(query(condition, "year"), wider=WHOLE)


def cached(relations: LocalRelations, *keys: str) -> set[str]:
    return set(relations.cached([query(key) for key in keys], {}, FULL_ACCESS))


def test_rows_are_fetched_once_they_were_asked_for_twice() -> None:
    later, engine = Later(), FakeRelations()
    relations = LocalRelations(engine, later, BOUNDS)
    assert cached(relations, "a") == set()
    assert later.work() == 0
    assert cached(relations, "a") == set()
    assert later.work() == 1
    assert cached(relations, "a", "b") == {"a"}


def test_one_query_that_references_a_table_twice_asks_once() -> None:
    later = Later()
    cached(LocalRelations(FakeRelations(), later, BOUNDS), "a", "a")
    assert later.work() == 0


FOUND = KeysAndRows(DynamicFilteringData(((1,),), is_filtering=True), pa.table({"k": [1, 1]}))


def missing(relations: LocalRelations, *keys: str) -> set[str]:
    return set(relations.missing({key: query(key) for key in keys}))


def test_rows_that_came_with_keys_are_cached_at_once() -> None:
    later, engine = Later(), FakeRelations()
    relations = LocalRelations(engine, later, BOUNDS)
    assert missing(relations, "a", "b") == {"a", "b"}
    assert relations.cache(query("a"), FOUND)
    assert missing(relations, "a", "b") == {"b"}
    assert cached(relations, "a") == {"a"}
    assert (later.work(), engine.fetches) == (0, [])


def test_rows_that_are_not_few_are_asked_for_no_more() -> None:
    relations = LocalRelations(FakeRelations(), Later(), RelationBounds(max_rows=1, max_bytes=10_000))
    assert not relations.cache(query("a"), FOUND)
    assert not relations.cache(query("b"), replace(FOUND, rows=None))
    assert missing(relations, "a", "b") == set()


def test_rows_that_a_lost_engine_cannot_take_are_missing_still() -> None:
    class Lost(FakeRelations):
        def put(self, *_: Any) -> CachedRelation | None:
            raise EngineLost

    relations = LocalRelations(Lost(), Later(), BOUNDS)
    assert not relations.cache(query("a"), FOUND)
    assert missing(relations, "a") == {"a"}


def test_rows_that_a_verification_has_found_wrong_are_not_missing() -> None:
    relations = LocalRelations(FakeRelations(), Later(), BOUNDS)
    relations.disable(frozenset({"a"}))
    assert missing(relations, "a") == set()


def test_what_is_being_fetched_is_not_fetched_again() -> None:
    later, engine = Later(), FakeRelations()
    relations = LocalRelations(engine, later, BOUNDS)
    for _ in range(5):
        cached(relations, "a")
    later.work()
    assert len(engine.fetches) == 1


def test_a_relation_that_is_too_large_is_not_asked_for_again() -> None:
    later, engine = Later(), FakeRelations()
    engine.row_counts["a"] = BOUNDS.max_rows + 1
    relations = LocalRelations(engine, later, BOUNDS)
    for _ in range(6):
        assert cached(relations, "a") == set()
        later.work()
    assert len(engine.fetches) == 1


def test_rows_that_are_not_to_be_trusted_are_given_to_nobody_and_not_fetched_again() -> None:
    later, engine = Later(), FakeRelations()
    relations = LocalRelations(engine, later, BOUNDS)
    for _ in range(2):
        cached(relations, "a")
    later.work()
    relations.disable(frozenset({"a"}))
    for _ in range(3):
        assert cached(relations, "a") == set()
    assert later.work() == 0


def test_an_engine_that_was_lost_is_asked_again() -> None:
    later, engine = Later(), _Losing()
    relations = LocalRelations(engine, later, BOUNDS)
    for _ in range(4):
        assert cached(relations, "a") == set()
        later.work()
    assert cached(relations, "a") == {"a"}
    engine.lose()
    assert cached(relations, "a") == set()


def test_only_the_parameters_that_the_rows_depend_on_are_handed_on() -> None:
    later, engine = Later(), FakeRelations()
    relations = LocalRelations(engine, later, BOUNDS)
    parameters = {"year": Parameter(2000), "name": Parameter("x")}
    for _ in range(2):
        relations.cached([query("a", "year")], parameters, FULL_ACCESS)
    later.work()
    assert [given for _, given in engine.fetches] == [{"year": Parameter(2000)}]


def asked(relations: LocalRelations, *conditions: str) -> list[str]:
    """Asks for the rows under each condition, one query after the other; returns those that each reads."""
    found = (relations.cached([under(condition)], {}, FULL_ACCESS) for condition in conditions)
    return [next((rows.fingerprint for rows in each.values()), "") for each in found]


def widened() -> tuple[LocalRelations, FakeRelations, Later]:
    """Returns relations that have the whole table in memory, and none under a condition."""
    later, engine = Later(), FakeRelations()
    relations = LocalRelations(engine, later, BOUNDS)
    asked(relations, "a", "b", "c")
    assert later.work() == 1
    return relations, engine, later


def test_the_whole_table_is_fetched_for_the_third_condition() -> None:
    later, engine = Later(), FakeRelations()
    relations = LocalRelations(engine, later, BOUNDS)
    parameters = {"year": Parameter(2000)}
    for condition in "abc":
        assert later.work() == 0
        assert relations.cached([under(condition)], parameters, FULL_ACCESS) == {}
    assert later.work() == 1
    assert engine.fetches == [(WHOLE, {})]
    assert asked(relations, "c", "d") == ["whole", "whole"]


def test_one_condition_that_is_repeated_does_not_fetch_the_whole_table() -> None:
    later, engine = Later(), FakeRelations()
    relations = LocalRelations(engine, later, BOUNDS)
    assert asked(relations, "a", "b", "a", "b") == ["", "", "", ""]
    later.work()
    assert asked(relations, *"ababab") == [*"ababab"]
    assert [found.fingerprint for found, _ in engine.fetches] == ["a", "b"]


def test_rows_under_the_condition_itself_come_first() -> None:
    relations, engine, _ = widened()
    engine.fetch(under("a"), {}, BOUNDS, FULL_ACCESS)
    assert asked(relations, "a", "b") == ["a", "whole"]
    assert (relations.in_memory(under("a")), relations.in_memory(under("b"))) == (under("a"), WHOLE)


def test_beside_the_whole_table_only_a_condition_that_is_asked_often_has_its_rows() -> None:
    relations, _, later = widened()
    for _ in range(ASKED_BEFORE_FETCHED_BESIDE_WIDER - 2):
        assert asked(relations, "a") == ["whole"]
    assert later.work() == 0
    assert asked(relations, "a") == ["whole"]
    assert later.work() == 1
    assert asked(relations, "a", "b") == ["a", "whole"]


def test_rows_that_the_engine_read_with_keys_count_as_conditions() -> None:
    later, engine = Later(), FakeRelations()
    relations = LocalRelations(engine, later, BOUNDS)
    for condition in "abc":
        assert later.work() == 0
        assert relations.fetch(under(condition), {}, FULL_ACCESS)
    assert later.work() == 1
    assert relations.in_memory(under("d")) == WHOLE


def test_a_whole_table_that_is_too_large_is_fetched_once() -> None:
    later, engine = Later(), FakeRelations()
    engine.row_counts["whole"] = BOUNDS.max_rows + 1
    relations = LocalRelations(engine, later, BOUNDS)
    for condition in "abcdefg":
        assert asked(relations, condition) == [""]
        later.work()
    assert [found.fingerprint for found, _ in engine.fetches] == ["whole"]


def test_a_whole_table_that_was_evicted_is_fetched_for_three_further_conditions() -> None:
    relations, engine, later = widened()
    engine.lose()
    assert asked(relations, "d", "e") == ["", ""]
    assert later.work() == 0
    assert asked(relations, "f") == [""]
    assert later.work() == 1


def test_a_whole_table_that_is_not_to_be_trusted_stands_for_no_rows() -> None:
    relations, _, later = widened()
    relations.disable(frozenset({"whole"}))
    assert asked(relations, "d", "e", "f", "d") == ["", "", "", ""]
    assert later.work() == 1, "only the rows of the condition that was asked for twice"
    assert asked(relations, "d") == ["d"]
    assert relations.in_memory(under("e")) is None


def test_it_stands_for_no_rows_that_are_not_to_be_trusted_either() -> None:
    relations, _, _ = widened()
    relations.disable(frozenset({"a"}))
    assert asked(relations, "a") == [""]
    assert relations.in_memory(under("a")) is None


class _Losing(FakeRelations):
    """Relations whose engine is lost during the first fetch."""

    def fetch(self, *asked: Any) -> CachedRelation | None:
        is_first = not self.fetches
        found = super().fetch(*asked)
        if is_first:
            self.lose()
            raise EngineLost
        return found
