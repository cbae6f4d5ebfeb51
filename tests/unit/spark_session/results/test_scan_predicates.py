"""The ranges that a scan's filters say about each column."""

from __future__ import annotations

import json
import math
import random
import sys
from typing import Any

import pytest

from service.model.query.scan_predicates import ScanPredicate
from spark_session.results.scan_predicates import MAX_RANGES, scan_predicates

K = ScanPredicate


def leaf(type_: str, value: object, term: object = "k") -> dict[str, object]:
    return {"type": type_, "term": term, "values" if type_ == "in" else "value": value}


def pair(type_: str, left: object, right: object) -> dict[str, object]:
    return {"type": type_, "left": left, "right": right}


CASES = [
    (leaf("lt", 5), [K("k", ((None, 4),))]),
    (leaf("gt", "m"), [K("k", (("m", None),))]),
    (leaf("in", [3, 1, 2, 9]), [K("k", ((1, 3), (9, 9)))]),
    (leaf("starts-with", "ab"), [K("k", (("ab", "ab\U0010ffff"),))]),
    (leaf("not-eq", 5), [K("k", None)]),
    ({"type": "is-null", "term": "k"}, [K("k", None)]),
    ({"type": "not-null", "term": "k"}, []),
    ({"type": "not", "child": leaf("eq", 5)}, [K("k", None)]),
    (leaf("eq", 5, {"type": "transform", "transform": "bucket[8]", "term": "k"}), []),
    (pair("and", leaf("gt-eq", 1), leaf("lt-eq", 9)), [K("k", ((1, 9),))]),
    (pair("or", leaf("eq", 1), leaf("gt", 7)), [K("k", ((1, 1), (8, None)))]),
    (pair("or", leaf("eq", 1), leaf("eq", 2, "j")), [K("k", None), K("j", None)]),
    (pair("or", leaf("eq", 1), "true"), [K("k", None)]),
    (pair("and", leaf("eq", 1), leaf("eq", 2)), [K("k", ())]),
    (pair("and", leaf("eq", "a"), leaf("in", [1, 2])), [K("k", (("a", "a"),))]),
    (leaf("in", [1, "a"]), [K("k", None)]),
    (leaf("eq", float("nan")), [K("k", None)]),
    (leaf("eq", True), [K("k", None)]),
    (leaf("lt", 0.5), [K("k", ((None, math.nextafter(0.5, 0)),))]),
    (leaf("gt", sys.float_info.max), [K("k", ((sys.float_info.max, None),))]),
    (leaf("lt", -sys.float_info.max), [K("k", ((None, -sys.float_info.max),))]),
    ("true", []),
    (7, []),
    ({"term": "k"}, []),
    (leaf("eq", 10**400), []),
]


@pytest.mark.parametrize(("filter_", "expected"), CASES)
def test_a_filter_says_which_values_its_rows_have(filter_: object, expected: list[ScanPredicate]) -> None:
    assert list(scan_predicates([json.dumps(filter_)])) == expected


def test_decimals_are_compared_as_numbers() -> None:
    between = pair("and", leaf("gt-eq", "9.00"), leaf("lt", "10.00"))
    listed = leaf("in", [f"{number}.50" for number in range(300)], "j")
    found = scan_predicates([json.dumps(pair("and", between, listed))], ["j", "k"])
    assert found[0] == K("k", (("9.00", "10.00"),))
    assert found[1].ranges is not None
    assert (found[1].ranges[0][0], found[1].ranges[-1][1]) == ("0.50", "299.50")
    assert len(found[1].ranges) == MAX_RANGES


def test_filters_that_cannot_be_read_say_nothing() -> None:
    deep = '{"type": "not", "child": ' * 100_000
    assert scan_predicates([None, "{", deep, json.dumps(leaf("eq", 1))]) == (K("k", ((1, 1),)),)


@pytest.mark.parametrize("kind", [int, str])
def test_many_values_are_recorded_as_fewer_ranges_that_have_them_all(kind: type) -> None:
    values = [kind(1000 * number * number) for number in range(5_000)]
    [found] = scan_predicates([json.dumps(leaf("in", values))])
    assert found.ranges is not None
    assert 0 < len(found.ranges) <= MAX_RANGES
    assert all(any(lower <= value <= upper for lower, upper in found.ranges) for value in values)


def test_generated_filters_lose_no_row() -> None:
    random_ = random.Random(7)
    for _ in range(500):
        filter_ = _generated(random_, depth=4)
        ranges = {found.column: found.ranges for found in scan_predicates([json.dumps(filter_)])}
        for row in ({"j": j, "k": k} for j in range(6) for k in range(6)):
            if _holds(filter_, row):
                assert all(_is_in(row[column], found) for column, found in ranges.items()), filter_


def _generated(random_: random.Random, depth: int) -> dict[str, Any]:
    type_ = random_.choice(["and", "or", "not"] if depth else ["eq"]) if random_.random() < 0.6 else "eq"
    if type_ in ("and", "or"):
        return pair(type_, _generated(random_, depth - 1), _generated(random_, depth - 1))
    if type_ == "not":
        return {"type": "not", "child": _generated(random_, depth - 1)}
    type_ = random_.choice(["eq", "lt", "lt-eq", "gt", "gt-eq", "in"])
    value = [random_.randrange(6) for _ in range(3)] if type_ == "in" else random_.randrange(6)
    return leaf(type_, value, random_.choice("jk"))


def _holds(filter_: dict[str, Any], row: dict[str, int]) -> bool:
    type_ = filter_["type"]
    if type_ == "not":
        return not _holds(filter_["child"], row)
    if type_ in ("and", "or"):
        sides = [_holds(filter_["left"], row), _holds(filter_["right"], row)]
        return all(sides) if type_ == "and" else any(sides)
    value, given = row[filter_["term"]], filter_.get("value", 0)
    match type_:
        case "eq":
            return bool(value == given)
        case "lt":
            return bool(value < given)
        case "lt-eq":
            return bool(value <= given)
        case "gt":
            return bool(value > given)
        case "gt-eq":
            return bool(value >= given)
    return value in filter_["values"]


def _is_in(value: int, ranges: Any) -> bool:
    return ranges is None or any(
        (lower is None or lower <= value) and (upper is None or value <= upper) for lower, upper in ranges
    )
