"""A rendered condition means what the original did: the engine's own parser makes the same tree of both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlglot import parse_one

from service.gateway import Gateway
from service.pruning.conditions.is_safe_to_render import is_safe_to_render
from spark_session.engine.engine import SparkEngine

CONDITIONS = (Path(__file__).parents[1] / "fixtures" / "faithful_conditions.sql").read_text().splitlines()
# Pairs of spellings with one meaning, which the parser's tree still distinguishes.
SAME = (
    (r"isnotnull\((\S+)\)", r"not isnull(\1)"),
    (r"'mod\((\S+), (\S+)\)", r"(\1 % \2)"),
    (r"'(?:nvl|ifnull)\(", "'coalesce("),
    (r"'lcase\(", "'lower("),
    (r"'ucase\(", "'upper("),
    (r"'substr\(", "'substring("),
    (r"'?date\('([^()]+)\)", r"cast('\1 as date)"),
    (r"'int\('([^()]+)\)", r"cast('\1 as int)"),
    (r"'date_sub\(([^,]+), (\d+)\)", r"'date_add(\1, (\2 * -1))"),
    (r"cast\((\d{4}-\d\d-\d\d) as date\)", r"\1"),
    (r"cast\((\d+) as (?:tinyint|smallint|bigint)\)", r"\1"),
    (r"cast\(([\d.]+) as decimal\(2,1\)\)", r"\1"),
    (r"\(list|scalar-subquery|exists", ""),
    (r"#\d+( \[\])?", ""),
)


@pytest.mark.parametrize(
    "condition", [condition for condition in CONDITIONS if condition and not condition.startswith("--")]
)
def test_a_condition_is_written_as_it_was_meant(condition: str, gateway: Gateway) -> None:
    tree = parse_one(condition, read="spark")
    assert is_safe_to_render(tree)
    assert _parsed(tree.sql("spark", identify=True), gateway) == _parsed(condition, gateway)


def _parsed(condition: str, gateway: Gateway) -> str:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    parser = engine.session.children._root._jsparkSession.sessionState().sqlParser()
    expression = parser.parseExpression(condition)
    # Only the tree shows the plans of subqueries.
    text = str(expression.treeString() if "SELECT" in condition else expression.toString()).lower()
    for said, same in SAME:
        text = re.sub(said, same, text)
    return text
