"""Generates aggregations over the fact and the dimension, some of which are not refreshed."""

from __future__ import annotations

from random import Random

from tests.refresh.cases import Case
from tests.refresh.nesting import nested

KEYS = (
    ("k", "k"),
    ("name", "name"),
    ("day", "f.day"),
    ("year(f.day)", "year(f.day)"),
    ("small", "small"),
    ("is_paid", "is_paid"),
    ("price", "price"),
    ("upper(name)", "upper(name)"),
    ("date_trunc('hour', at)", "date_trunc('hour', at)"),
    ("at_utc", "at_utc"),
    ("k + small", "k + small"),
    ("CASE WHEN k > 2 THEN 'high' ELSE name END", "CASE WHEN k > 2 THEN 'high' ELSE name END"),
)
DIMENSION_KEYS = (("label", "label"), ("d.year", "d.year"), ("coalesce(d.label, f.name)",) * 2)
VALUES = (
    "small", "big", "price", "amount", "long_amount", "wide", "price * 2", "amount + price", "big - small",
    "CAST(price AS DECIMAL(12,4))", "CASE WHEN is_paid THEN price END", "f.id", "-small",
    "weight", "weight * 2", "CAST(weight AS FLOAT)",
)  # fmt: skip
EXTREMES = (*VALUES, "name", "day", "at", "at_utc", "is_paid", "upper(name)")
CONDITIONS = (
    "small > 0", "k IN (1, 2, 3)", "name <> ''", "f.day >= DATE '2024-02-28'", "is_paid", "price IS NOT NULL",
    "amount BETWEEN -50000 AND 50000", "k = 1 OR small < 2", "NOT is_paid", ":least <= k",
)  # fmt: skip
HAVING = (
    "count(*) > 1", "sum(small) > 0", "max(k) IS NOT NULL", "count(*) < 9", "approx_count_distinct(name) > 2",
)  # fmt: skip
DEVIATIONS = ("", "", ", 0.05", ", 0.3", ", 0.02D", ", 1e-2")
NOT_REFRESHED = (
    "stddev(weight)", "count(DISTINCT name)", "first(k)", "stddev(small)", "approx_count_distinct(id, 0.005)",
    "collect_set(k)", "percentile(small, 0.5)", "count(DISTINCT weight)",
)  # fmt: skip


def case_of(random: Random) -> Case:
    """Returns a query that this source of chance chooses."""
    case = _plain(random)
    if not case.is_offered or random.random() < 0.35:
        return case
    return nested(random, case)


def _plain(random: Random) -> Case:
    joins = random.random() < 0.45
    keys = random.sample([*KEYS, *(DIMENSION_KEYS if joins else ())], random.choice((0, 1, 1, 1, 2, 3)))
    is_offered = random.random() > 0.06
    values = [_aggregate(random) for _ in range(random.randrange(1, 5))]
    if not is_offered:
        values[0] = random.choice(NOT_REFRESHED)
    items = [f"{value}{_alias(random, number)}" for number, value in enumerate(values)]
    shown = [f"{key} AS g{number}" if random.random() < 0.5 else key for number, (key, _) in enumerate(keys)]
    select = ", ".join(shown + items if random.random() < 0.8 else items + shown)
    text = f"SELECT {select} FROM {{fact}} AS f{_join(random) if joins else ''}"
    if random.random() < 0.6:
        text += f" WHERE {' AND '.join(random.sample(CONDITIONS, random.choice((1, 1, 2))))}"
    if keys:
        text += f" GROUP BY {', '.join(key for _, key in keys)}"
    if random.random() < 0.25:
        text += f" HAVING {random.choice(HAVING)}"
    is_ordered = bool(keys) and random.random() < 0.35
    if is_ordered:
        ways = ("", " DESC", " NULLS LAST", " DESC NULLS FIRST")
        first = f"count(*){random.choice(ways)}, " if random.random() < 0.4 else ""
        text += f" ORDER BY {first}{', '.join(key + random.choice(ways) for _, key in keys)}"
        if random.random() < 0.5:
            text += f" LIMIT {random.randrange(1, 6)}"
    return Case(text, is_ordered, joins, is_offered, len(shown + items))


def _join(random: Random) -> str:
    kind = random.choice(("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN"))
    return f" {kind} {{dim}} AS d ON f.k = d.dk{random.choice(('', '', ' AND d.year = 2000'))}"


def _alias(random: Random, number: int) -> str:
    return random.choice(("", f" AS v{number}", f" v{number}"))


def _aggregate(random: Random) -> str:
    called = _call(random)
    if random.random() < 0.15:
        called += f" FILTER (WHERE {random.choice(('small > 0', 'is_paid', 'k < 3'))})"
    return random.choice((called, called, called, f"coalesce({called}, NULL)", f"{called} IS NULL"))


def _call(random: Random) -> str:
    function = random.choice(
        ("sum", "sum", "avg", "avg", "min", "max", "count", "distinct", "distinct", "all", "other")
    )
    if function == "distinct":
        return f"approx_count_distinct({random.choice(EXTREMES)}{random.choice(DEVIATIONS)})"
    if function in ("sum", "avg"):
        return f"{function}({random.choice(VALUES)})"
    if function in ("min", "max", "count"):
        return f"{function}({random.choice(EXTREMES)})"
    if function == "all":
        return random.choice(("count(*)", "count(1)", "count(k, name)", "COUNT( * )"))
    return random.choice(
        ("bool_and(is_paid)", "bool_or(is_paid)", "every(k > 0)", "bit_or(small)", "bit_and(big)",
         "bit_xor(f.id)", "count_if(small > 0)", "mean(price)", "hex(bitmap_construct_agg(abs(small)))",
         "bitmap_count(bitmap_or_agg(CAST(name AS BINARY)))", "bitmap_count(bitmap_and_agg(X'F1'))")
    )  # fmt: skip
