"""Annotations, decorators, log calls, large numbers and the like are not mutated; the code beside them is."""

from __future__ import annotations

import ast

import pytest

from tests.mutation.left_out import left_out


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("limit: int | None = 3 - 1", ["int | None"]),
        (
            "def rows(first: int | str, *more: int) -> int | None: return 1 + 2",
            ["int | str", "int", "int | None"],
        ),
        ("@dataclass(frozen=True)\nclass Row: size = 1", ["@dataclass(frozen=True)"]),
        ("@cache\ndef size(): return 1", ["@cache"]),
        ("log.info('counted', rows=1 + 2)", ["log.info('counted', rows=1 + 2)"]),
        ("logical.info(1 + 2)", []),
        ("if TYPE_CHECKING:\n    limit = 1", ["if TYPE_CHECKING:\n    limit = 1"]),
        ("pairs = zip(a, b[1:], strict=True)", ["strict=True"]),
        ("if limit > 99: limit = 100", ["100"]),
        ("if True or limit == -1: limit = 'a' + 'b'", []),
    ],
)
def test_a_place_is_left_out_where_a_change_cannot_change_a_result(line: str, expected: list[str]) -> None:
    lines = f" \n{line}".splitlines(keepends=True)  # a line before the first one, as the lines begin at 1
    found = []
    for (first, begin), (last, end) in left_out(f"\n{line}"):
        text = lines[first - 1 : last]
        text[-1] = text[-1][:end]
        text[0] = text[0][max(begin, 0) :]
        found.append("".join(text).strip(" :("))
    assert ast.parse(line)
    assert sorted(found, key=expected.index) == expected
