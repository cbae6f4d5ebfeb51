"""Queries whose literals alone are too much for the engine."""

from __future__ import annotations

from tests.drill.attacks import plans, queries
from tests.drill.hostile import Attack

REGEX = r"SELECT rlike(concat(repeat('a',{}),'!'), '(a)(a|aa)+\\1b$')"
REPLACED = r"SELECT regexp_replace(concat(repeat('a',{}),'!'), '(a)(a|aa)+\\1b$', '')"
OTHER_REGEXES = (
    r"SELECT regexp_count(concat(repeat('a',75),'!'), '(a)(a|aa)+\\1b$')",
    r"SELECT regexp_extract_all(concat(repeat('a',76),'!'), '(a)(a|aa)+\\1b$')",
    r"SELECT split(concat(repeat('a',77),'!'), '(a)(a|aa)+\\1b$')",
    r"SELECT concat(repeat('a',78),'!') RLIKE ANY ('(a)(a|aa)+\\1b$')",
)
SPACES = "SELECT to_number('9', repeat('9', 100000)), like(repeat('a',30000), repeat('%a', 30000))"

GROWING = (
    "SELECT lpad('a', 2000000000, 'b')",
    "SELECT length(space(2000000000))",
    "SELECT format_string('%2000000000d', 1)",
    "SELECT size(array_repeat(1, 2000000000))",
    "SELECT format_number(1.5, 2000000000)",
    "SELECT round(1.5BD, 2000000000)",
    "SELECT randstr(2000000000, 1)",
    "SELECT size(sequence(DATE'0001-01-01', DATE'9999-12-31', INTERVAL '1' SECOND))",
)
SKETCHES = (
    "SELECT count_min_sketch(id, 0.000000001D, 0.99999D, 1) FROM range(0, 10)",
    "SELECT approx_percentile(id, 0.5D, 2147483647) FROM range(0, 1000000)",
    "SELECT histogram_numeric(id, 2000000000) FROM range(0, 1000000)",
    "SELECT hll_sketch_agg(id, 21) FROM range(0, 1000)",
)
EXPONENTS = (
    "SELECT 1e2000000000BD + 1",
    "SELECT CAST('1e2000000000' AS DECIMAL(38,0))",
    "SELECT CAST('1e-2000000000' AS DECIMAL(38,38))",
    "SELECT CAST(CAST('1e999999999' AS STRING) AS BIGINT)",
)

ENGINE: dict[str, Attack] = {
    "regex over literals, 4 at once": queries(*(REGEX.format(length) for length in (60, 64, 65, 66))),
    "regex over literals, planned alone": plans(*(REGEX.format(length) for length in (70, 71, 72, 73))),
    "regex over literals, one for long": queries(REPLACED.format(74), timeout_s=5),
    "other functions of regexes": queries(*OTHER_REGEXES),
    "regex too deep for the stack, literals": queries("SELECT rlike(repeat('a', 100000), '(a|b)*c')"),
    "patterns of LIKE and of numbers": queries(SPACES),
    "2,000,000,000 partitions": queries("SELECT count(*) FROM range(0,10,1,2000000000)"),
    "2,000,000,000 partitions by a hint": queries(
        "SELECT /*+ REPARTITION(2000000000) */ * FROM range(10)",
        "SELECT /*+ COALESCE(2000000000), REBALANCE(2000000000) */ * FROM range(10)",
    ),
    "repeat() of 2 GB": queries("SELECT length(repeat('a', 2000000000))"),
    "sequence() of 500,000,000": queries("SELECT size(sequence(1, 500000000))"),
    "other functions that grow": queries(*GROWING),
    "sketches of 2,000,000,000": queries(*SKETCHES),
    "numbers with huge exponents": queries(*EXPONENTS),
    "windows of 10,000 days": queries(
        "SELECT window(timestamp_seconds(id), '10000 days', '1 second') FROM range(10)"
    ),
    "CUBE of 30 columns": queries(
        f"SELECT count(*) FROM (SELECT {', '.join(f'id + {number} AS c{number}' for number in range(30))}"
        f" FROM range(10)) GROUP BY CUBE ({', '.join(f'c{number}' for number in range(30))})"
    ),
    "recursion without end": queries(
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
        "WITH RECURSIVE t(n) MAX RECURSION LEVEL 1000000 AS (SELECT 1 UNION ALL SELECT n + 1 FROM t)"
        " SELECT count(*) FROM t",
    ),
    "read option of 2,000,000,000 rows": queries(
        "SELECT sum(return_id) FROM lake.drill.returns WITH ('batch-size'='2000000000')", timeout_s=10
    ),
}
