"""Puts generated aggregations into derived tables and common table expressions, and these into them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.refresh.cases import Case
from tests.refresh.tables import FACT

_COMPUTED = {
    "name": ("coalesce(name, 'a b')", "upper(name)"),
    "small": ("-small", "k", "small + 0"),
    "k": ("small", "k % 3", "coalesce(k, small)"),
    "price": (
        "CASE WHEN is_paid THEN price END",
        "CAST(amount AS DECIMAL(7,2))",
        "CAST(NULL AS DECIMAL(7,2))",
    ),
    "is_paid": ("NOT is_paid", "small > 0"),
}
_CONDITIONS = (
    "", "", " WHERE small > -2", " WHERE k IS NOT NULL", " WHERE small IN (1, 2) OR name = 'B'",
    " WHERE id < 0", " WHERE NOT is_paid AND :least <= k",
)  # fmt: skip
_NAMES = ("f", "src", "{name}", "`a b`", "d", "k")
_NOT_REFRESHED = (
    "SELECT {all} FROM {{fact}} ORDER BY id LIMIT 40",
    "SELECT DISTINCT {all} FROM {{fact}}",
    "SELECT {all} FROM {{fact}} WHERE rand() < 2",
    "SELECT {all} FROM {{fact}} UNION ALL SELECT {all} FROM {{fact}}",
    "SELECT {all} FROM {{fact}} WHERE k IN (SELECT max(k) FROM {{fact}})",
    "SELECT {all} FROM {{dim}} LEFT JOIN {{fact}} ON dk = k",
    "SELECT * FROM {{fact}} LATERAL VIEW explode(array(1, 2)) AS twice",
)


def nested(random: Random, case: Case) -> Case:
    """Returns a query with the case's aggregation, over other rows, or within another text."""
    if random.random() < 0.7:
        case = _below(random, case)
    if random.random() < 0.5:
        case = _above(random, case)
    return case


def _below(random: Random, case: Case) -> Case:
    """Has the aggregation read a text over the fact, which may rename its columns or leave out rows."""
    is_offered = random.random() > 0.1
    rows = _rows(random) if is_offered else random.choice(_NOT_REFRESHED).format(all=", ".join(FACT))
    if is_offered and random.random() < 0.3:
        name = random.choice(_NAMES)
        rows = f"WITH {name} AS ({rows}) {_rows(random).replace('{fact}', name)}"
    text = case.text
    if random.random() < 0.25:
        text = text.replace("{dim}", f"(SELECT * FROM {{dim}}{random.choice(('', ' WHERE year IS NULL'))})")
    if random.random() < 0.4:
        derived = text.replace("{fact} AS f", f"({rows}) AS f", 1)
        return replace(case, text=derived, is_offered=is_offered)
    name = random.choice(_NAMES)
    clause = f"WITH {name} AS ({rows})"
    if is_offered and random.random() < 0.4:
        other = random.choice([each for each in _NAMES if each != name])
        clause += f",\n {other} AS ({_rows(random).replace('{fact}', name)} -- once\n)"
        name = other
    elif random.random() < 0.08:
        # Named twice.
        clause += f", twice AS (SELECT * FROM {name} WHERE (SELECT count(*) FROM {name}) > 0)"
        name, is_offered = "twice", False
    return replace(
        case, text=f"{clause} {text.replace('{fact} AS f', f'{name} AS f', 1)}", is_offered=is_offered
    )


def _rows(random: Random) -> str:
    columns = list(FACT)
    chance = random.random()
    if chance < 0.3:
        shown = "*"
    else:
        if chance < 0.6:
            random.shuffle(columns)
        changed = set(random.sample(sorted(_COMPUTED), random.choice((0, 1, 2))))
        shown = ", ".join(
            f"{random.choice(_COMPUTED[column])} AS {column}" if column in changed else column
            for column in columns
        )
    return f"SELECT {shown} FROM {{fact}}{random.choice(_CONDITIONS)}"


def _above(random: Random, case: Case) -> Case:
    """Has a SELECT read the groups, under other names."""
    names = [random.choice((f"c{number}", f"`c {number}`", f"K{number}")) for number in range(case.width)]
    shown = random.sample(names, random.randrange(1, len(names) + 1))
    items = [random.choice((name, name, f"{name} AS k", f"{name} IS NULL AS e")) for name in shown]
    if random.random() < 0.1:
        items, is_offered = [f"max({names[0]})"], False
    else:
        is_offered = case.is_offered
    name = random.choice(("g", "f", "`g`"))
    columns = f"({', '.join(names)})"
    text = case.text
    if random.random() < 0.5 or text.startswith("WITH"):
        text = f"SELECT {', '.join(items)} FROM (\n{text}\n) AS {name}{columns}"
    else:
        text = f"WITH {name}{columns} AS ({text}) SELECT {', '.join(items)} FROM {name}"
    if random.random() < 0.4:
        text += f" WHERE {random.choice(names)} IS NOT NULL"
    if random.random() < 0.2 and is_offered:
        other = ", ".join(f"x{number}" for number in range(len(items)))
        text = f"SELECT {other} FROM ({text}) AS o({other})"
    return replace(case, text=text, is_ordered=False, is_offered=is_offered)
