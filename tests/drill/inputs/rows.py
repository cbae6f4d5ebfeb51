"""Queries whose rows alone make them too large or too long, so that nothing can refuse them early."""

from __future__ import annotations

from tests.drill.attacks import flood, queries, requests
from tests.drill.hostile import Attack, Hostile

OVER_ROWS = (
    r"SELECT count(*) FROM range(0, {0}, 1, {0}) WHERE rlike(concat(repeat('a', 60 + id), '!'),"
    r" '(a)(a|aa)+\\1b$')"
)
CROSS = "SELECT count(*) FROM range(0,1000000) a, range(0,1000000) b WHERE a.id * 7 + b.id * {} < 3"


def _begun_and_canceled(hostile: Hostile, number: int) -> None:
    body = {"sql": CROSS.format(number), "waitTimeout": "2s", "timeout": "60s"}
    query_id = hostile.client.post("/query", json=body).json()["queryId"]
    hostile.client.delete(f"/query/{query_id}", params={"waitTimeout": "0s"})


ROWS: dict[str, Attack] = {
    "regex over rows, all slots": queries(OVER_ROWS.format(4)),
    "regex too deep for the stack, in tasks": queries(
        "SELECT count(*) FROM range(0, 4, 1, 4) WHERE rlike(repeat(chr(97 + id), 100000), '(a|b|c|d)*e')"
    ),
    "repeat() by a column": queries(
        "SELECT sum(length(repeat(reason, CAST(200000000 + return_id % 2 AS INT)))) FROM lake.drill.returns"
    ),
    "sequence() by a column": queries(
        "SELECT max(size(sequence(1, id * 100000000))) FROM range(0, 10, 1, 2)"
    ),
    "sequence() by a table's column": queries(
        "SELECT max(size(sequence(0, 1000000000 + return_id % 2))) FROM lake.drill.returns"
    ),
    "arrays in memory": queries(
        "SELECT size(collect_list(repeat(CAST(id AS STRING), 1000))) FROM range(0, 10000000, 1, 1)"
    ),
    "one text of all rows": queries(
        "SELECT length(string_agg(repeat(CAST(id AS STRING), 1000), ',')) FROM range(0, 10000000, 1, 1)"
    ),
    "arrays of all rows before": queries(
        "SELECT max(size(c)) FROM (SELECT collect_list(id) OVER (ORDER BY id) AS c FROM range(0, 300000))"
    ),
    "one row for each of 10^12": queries(
        "SELECT count(*) FROM range(0, 1000000) LATERAL VIEW explode(sequence(1, 1000000)) AS x"
    ),
    "sort of 10^9 rows": queries(
        "SELECT max(id) FROM (SELECT id FROM range(0, 1000000000) ORDER BY hash(id))"
    ),
    "cross join without end": queries(
        "SELECT count(*) FROM range(0,1000000) a, range(0,1000000) b, range(0,1000000) c WHERE a.id+b.id=c.id"
    ),
    "cross joins, begun and canceled": requests(_begun_and_canceled, 8, 4),
    "300 queries of one caller": flood("SELECT max(pmod(hash(id), 2)) FROM range(0, 40000000, 1, 1)", 300),
    "1,000 queries with 1 ms each": flood("SELECT max(id) FROM range(0, 1000000)", 1000, "1ms", at_a_time=8),
}
