"""Does each ON name only relations that its join sees?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

_HIDING = ("SEMI", "ANTI")


def joins_what_it_names(select: exp.Select, may_be_another: Callable[[str], bool]) -> bool:
    """Returns False if an ON names a relation of the SELECT that its join does not see.

    To the parser, it sees all of them. To Spark, a name that is not in one of its two sides is a field of a
    struct, or a column further out. A relation before a comma is not in a side of a later join. Commas look
    like CROSS JOIN here, so such a name counts only if it `may_be_another`: otherwise Spark would reject the
    query.

    >>> from sqlglot import parse_one
    >>> def joins(text):
    ...     return joins_what_it_names(parse_one(text, read="spark"), lambda name: name == "b")
    >>> joins("SELECT 1 FROM a JOIN b ON a.k = b.k JOIN c ON a.k = c.k")
    True
    >>> joins("SELECT 1 FROM a JOIN b ON a.k = c.k JOIN c ON a.k = c.k")
    False
    >>> joins("SELECT 1 FROM a, b JOIN c ON a.k = c.k"), joins("SELECT 1 FROM b, a JOIN c ON b.k = c.k")
    (True, False)
    """
    first = select.args.get("from_")
    if first is None or not select.args.get("joins"):
        return True
    relations = [first.this, *(join.this for join in select.args["joins"])]
    every = {lateral.alias_or_name for lateral in select.args.get("laterals") or ()}
    every.update(name for relation in relations for name in _names_in(relation, is_inside=True))
    return _are_seen(first.this, select.args["joins"], every, may_be_another)


def _are_seen(
    first: exp.Expr, joins: list[exp.Join], every: set[str], may_be_another: Callable[[str], bool]
) -> bool:
    seen, before = set(_names_in(first)), set[str]()
    within = [first]
    for join in joins:
        added, on = set(_names_in(join.this)), join.args.get("on")
        within.append(join.this)
        if on is None and not join.args.get("using"):
            before, seen = before | seen, added
            continue
        named = set() if on is None else {column.table for column in on.find_all(exp.Column)}
        unseen = named & every - seen - added
        if not unseen <= before or any(map(may_be_another, unseen)):
            return False
        if join.kind not in _HIDING:
            seen |= added
    return all(_are_seen(*nested, every, may_be_another) for node in within for nested in _nested(node))


def _names_in(relation: exp.Expr, is_inside: bool = False) -> Iterator[str]:
    """Yields a relation's name, or without one the names in its parentheses; with `is_inside`, both."""
    if relation.alias_or_name:
        yield relation.alias_or_name
    if relation.alias_or_name and not is_inside:
        return
    for first, joins in _nested(relation):
        for source in (first, *(join.this for join in joins)):
            yield from _names_in(source, is_inside)


def _nested(relation: exp.Expr) -> Iterator[tuple[exp.Expr, list[exp.Join]]]:
    """Yields the first relation in parentheses, with the joins there."""
    inner = relation.this if isinstance(relation, exp.Subquery | exp.Paren) else None
    if isinstance(inner, exp.Table | exp.Subquery | exp.Paren):
        yield inner, [*(inner.args.get("joins") or ()), *(relation.args.get("joins") or ())]
