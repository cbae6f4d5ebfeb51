"""Queries that are slow to parse, to analyze or to plan."""

from __future__ import annotations

from tests.drill.attacks import plans, queries, requests
from tests.drill.hostile import Attack

SLOW_TEXTS = (
    *("SELECT " + "a()" + ".a()" * (90 + number) + " FROM lake.drill.returns" for number in range(10)),
    *(f"SELECT {number} FROM t " + " ".join(f"JOIN t{at}" for at in range(20)) for number in range(10)),
    *(
        "SELECT CAST(1 AS " + "DECIMAL(" * (15 + number) + "1" + ")" * (15 + number) + ")"
        for number in range(10)
    ),
    *(
        "SELECT " + "CASE WHEN a THEN " * (150 + number) + "1" + " END" * (150 + number)
        for number in range(10)
    ),
)
RETURNS = "lake.drill.returns"
DERIVED = f"SELECT * FROM {RETURNS}"
for _at in range(60):
    DERIVED = f"SELECT x.* FROM ({DERIVED}) x JOIN {RETURNS} r{_at} ON x.return_id = r{_at}.return_id"


def doubled_cte(levels: int) -> str:
    """Returns a query in which each CTE reads the previous one twice."""
    steps = [
        f"c{number} AS (SELECT a.x FROM c{number - 1} a, c{number - 1} b)" for number in range(1, levels)
    ]
    return f"WITH c0 AS (SELECT id AS x FROM range(2)), {', '.join(steps)} SELECT count(*) FROM c{levels - 1}"


def doubled_columns(levels: int) -> str:
    """Returns a query in which each column is the sum of the previous one and itself."""
    text = "SELECT id + rand() AS x FROM range(2)"
    for _ in range(levels):
        text = f"SELECT x + x AS x FROM ({text})"
    return text


def doubled_aliases(levels: int) -> str:
    """Returns such a query within one SELECT."""
    columns = (f"c{number - 1} + c{number - 1} AS c{number}" for number in range(1, levels))
    return f"SELECT id AS c0, {', '.join(columns)} FROM range(2)"


WIDE = "SELECT " + ", ".join(f"{number} AS c{number}" for number in range(15_000))
UNIONS = " UNION ALL ".join(["SELECT 1"] * 10_000)
CONDITIONS = "SELECT 1 WHERE " + " OR ".join(f"{number} = 0" for number in range(1, 12_000))
BRANCHES = (
    "SELECT CASE id " + " ".join(f"WHEN {number} THEN 1" for number in range(8_000)) + " END FROM range(9)"
)
IN_LIST = f"SELECT count(*) FROM lake.drill.returns WHERE return_id IN ({','.join(map(str, range(30_000)))})"
VALUES = "SELECT count(*) FROM VALUES " + ",".join(f"({number})" for number in range(25_000))

TEXTS: dict[str, Attack] = {
    "2,000 chained calls": queries("SELECT a" + ".a()" * 2000 + " FROM lake.drill.returns"),
    "ARRAY< 199 deep": queries("SELECT CAST(NULL AS " + "ARRAY<" * 199 + "INT" + ">" * 199 + ")"),
    "40 slow texts at once": queries(*SLOW_TEXTS),
    "40 slow texts at once, planned alone": plans(*SLOW_TEXTS),
    "60 derived tables in one another": queries(DERIVED, DERIVED.replace("x.*", "x.reason, x.return_id")),
    "CTEs that double 40 times": queries(doubled_cte(40), doubled_cte(24)),
    "columns that double 60 times": queries(doubled_columns(60), doubled_aliases(60)),
    "15,000 columns": queries(WIDE, WIDE + " FROM range(3)"),
    "10,000 unions": queries(UNIONS),
    "12,000 conditions": queries(CONDITIONS),
    "8,000 branches": queries(BRANCHES),
    "lists of 30,000": queries(IN_LIST, VALUES),
    "JSON, XML and paths, deep": queries(
        "SELECT from_json(repeat('[', 100000), 'array<int>'), schema_of_json(repeat('[', 100000))",
        "SELECT parse_json(repeat('[', 100000))",
        "SELECT get_json_object(repeat('{\"a\":', 100000), concat('$', repeat('.a', 10000)))",
        "SELECT xpath_string(concat(repeat('<a>', 100000), repeat('</a>', 100000)), 'a')",
        'SELECT xpath_string(\'<!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
        '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;">'
        '<!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;">]>'
        "<l>&f;&f;&f;&f;&f;&f;&f;&f;&f;</l>', '/l')",
    ),
    "2,000 texts to be planned": requests(
        lambda hostile, at: hostile.client.post(
            "/explain", json={"sql": f"SELECT count(*) FROM lake.drill.returns WHERE return_id = {at}"}
        ),
        2000,
        32,
    ),
}
