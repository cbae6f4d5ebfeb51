"""May a query give another result although it reads the same rows?"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

# They depend on the order of the rows, which is not defined, on chance, or on the time.
_FREE: tuple[type[exp.Expr], ...] = (
    exp.AnyValue,
    exp.ApproxQuantile,
    exp.ApproxTopK,
    exp.ArgMax,
    exp.ArgMin,
    exp.ArrayAgg,
    exp.ArrayUniqueAgg,
    exp.CurrentDate,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.First,
    exp.FirstValue,
    exp.GroupConcat,
    exp.Lag,
    exp.Last,
    exp.LastValue,
    exp.Lead,
    exp.Localtimestamp,
    exp.Mode,
    exp.NthValue,
    exp.Ntile,
    exp.Rand,
    exp.Randn,
    exp.Randstr,
    exp.RowNumber,
    exp.Shuffle,
    exp.TableSample,
    exp.Uniform,
    exp.Uuid,
)
_FREE_NAMES = frozenset(
    {
        "approx_top_k_accumulate",
        "histogram_numeric",
        "input_file_block_length",
        "input_file_block_start",
        "input_file_name",
        "monotonically_increasing_id",
        "now",
        "spark_partition_id",
        "unix_timestamp",
    }
)


def is_nondeterministic(tree: exp.Query) -> bool:
    """Whether two correct results may have different rows, so that a difference proves nothing.

    >>> from sqlglot import parse_one
    >>> is_nondeterministic(parse_one("SELECT a FROM t ORDER BY b LIMIT 3"))
    True
    >>> is_nondeterministic(parse_one("SELECT a, b FROM t ORDER BY b, a LIMIT 3"))
    False
    """
    return any(_is_free(node) for node in tree.walk())


def _is_free(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _FREE_NAMES or "sketch" in node.name.lower()
    if isinstance(node, exp.StrToUnix):
        return node.this is None
    if isinstance(node, exp.WindowSpec):
        # Rows that are equal in the order may have different neighbours each time.
        return (node.text("kind") or "").upper() == "ROWS"
    if isinstance(node, exp.Query):
        return _is_cut(node) and not _is_in_total_order(node)
    return isinstance(node, _FREE)


def _is_cut(query: exp.Query) -> bool:
    limit = query.args.get("limit")
    is_all = isinstance(limit, exp.Limit) and limit.expression.name.upper() == "ALL"
    return query.args.get("offset") is not None or (limit is not None and not is_all)


def _is_in_total_order(query: exp.Query) -> bool:
    """Whether all output columns are in the ORDER BY, so that rows which are equal there are equal."""
    order = query.args.get("order")
    if order is None:
        return False
    keys = [expression.this for expression in order.expressions if isinstance(expression, exp.Ordered)]
    if any(isinstance(key, exp.Var) and key.name.upper() == "ALL" for key in keys):
        return True
    outputs = query.selects
    names = [output.alias_or_name.lower() for output in outputs]
    covered = {place for key in keys for place in _places(key, outputs, names)}
    return not query.is_star and covered >= set(range(len(outputs)))


def _places(key: exp.Expr, outputs: list[exp.Expr], names: list[str]) -> Iterator[int]:
    """Yields the key's positions in the output: by its number, by its name, or as the same expression."""
    if isinstance(key, exp.Literal) and key.is_int:
        yield int(key.name) - 1
    is_name = isinstance(key, exp.Column) and not key.table and names.count(key.name.lower()) == 1
    for place, output in enumerate(outputs):
        if (is_name and names[place] == key.name.lower()) or output.unalias() == key:
            yield place
