"""The texts that keep, renew and answer from the state of an aggregation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.model.query.refresh import Aggregation, Partial, RefreshPlan, placeholder

STATE = "__sluice_state"
"""The name of the rows of a state, in the texts that read them."""
_FOR_ALL_TYPES = frozenset(
    {
        "approx_count_distinct",
        "bitmap_and_agg",
        "bitmap_construct_agg",
        "bitmap_or_agg",
        "count",
        "count_if",
    }
)


def probe_sql(aggregation: Aggregation) -> str:
    """Returns a text whose columns have the types of keys, of arguments, and of aggregates, in this order."""
    asked = [
        *aggregation.keys,
        *(f"min({call.argument})" for call in aggregation.calls if has_argument_type(call.name)),
        *(call.text for call in aggregation.calls),
    ]
    return _select([f"{value} AS __p{number}" for number, value in enumerate(asked)], aggregation)


def source_sql(source: str) -> str:
    """Returns a text with all rows and columns of a FROM clause with its WHERE clause."""
    return f"SELECT * {source}"


def has_argument_type(function: str) -> bool:
    """Whether the type of the argument decides how the aggregate is kept."""
    return function not in _FOR_ALL_TYPES


def state_sql(aggregation: Aggregation, partials: Sequence[Partial]) -> str:
    """Returns the text whose rows are the state."""
    keys = [f"{key} AS {_key(number)}" for number, key in enumerate(aggregation.keys)]
    values = [f"{text} AS {name}" for partial in partials for name, text in partial.columns]
    return _select([*keys, *values], aggregation)


def renewed_sql(aggregation: Aggregation, partials: Sequence[Partial]) -> str:
    """Returns the text that makes one state of several, which stand below one another."""
    values = [f"{text} AS {name}" for partial in partials for name, text in partial.renewed]
    names = [_key(number) for number in range(len(aggregation.keys))]
    return f"SELECT {', '.join([*names, *values])} FROM {STATE}{_grouped(names)}"


def answer_sql(plan: RefreshPlan, merged: Mapping[int, str]) -> str:
    """Returns the text whose rows are those of the query; `merged` are the merges of its aggregates."""
    aggregation, around = plan.aggregation, plan.surroundings
    named = tuple(column.name for column in plan.columns) if around is None else around.names
    items = [
        f"{_filled(item, aggregation, merged)} AS {_quoted(name)}"
        for item, name in zip(aggregation.items, named, strict=True)
    ]
    names = [_key(number) for number in range(len(aggregation.keys))]
    tail = (_filled(part, aggregation, merged) for part in aggregation.tail)
    # A comment at the end of a part would hide what follows in its line.
    answer = "\n".join((f"SELECT {', '.join(items)} FROM {STATE}{_grouped(names)}", *tail))
    return answer if around is None else f"{around.before}{answer}\n{around.after}"


def _select(columns: Sequence[str], aggregation: Aggregation) -> str:
    return f"SELECT {', '.join(columns)} {aggregation.source}{_grouped(aggregation.keys)}"


def _grouped(keys: Sequence[str]) -> str:
    return f" GROUP BY {', '.join(keys)}" if keys else ""


def _filled(part: str, aggregation: Aggregation, merged: Mapping[int, str]) -> str:
    for number in range(len(aggregation.keys)):
        part = part.replace(placeholder("k", number), _key(number))
    for number, text in merged.items():
        part = part.replace(placeholder("a", number), text)
    return part


def _key(number: int) -> str:
    return f"__k{number}"


def _quoted(name: str) -> str:
    escaped = name.replace("`", "``")
    return f"`{escaped}`"
