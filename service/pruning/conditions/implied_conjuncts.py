"""The conditions that hold wherever a given condition holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from service.model.filters.joins import alone_in, relations_in

# More branches hardly ever have a condition in common.
MAX_BRANCHES = 16


def implied_conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yields the parts of AND, and after each OR the conditions that it implies.

    An OR implies each condition that all of its branches have. If each branch has conditions on one relation
    alone, it implies the OR of these. The engine takes joins and filters from there as well.

    >>> from sqlglot import parse_one
    >>> text = "e.z = 1 AND ((f.k = d.k AND d.x = 1 AND f.a < 3) OR (d.k = f.k AND d.y = 2))"
    >>> for conjunct in implied_conjuncts(parse_one(text)):
    ...     print(conjunct.sql())
    e.z = 1
    (f.k = d.k AND d.x = 1 AND f.a < 3) OR (d.k = f.k AND d.y = 2)
    f.k = d.k
    (d.x = 1) OR (d.y = 2)
    """
    if condition is None:
        return
    for conjunct in condition.flatten() if isinstance(condition, exp.And) else (condition,):
        bare = conjunct.unnest()
        if isinstance(bare, exp.And):
            yield from implied_conjuncts(bare)
        else:
            yield bare
            if isinstance(bare, exp.Or):
                yield from _implied(bare)


def _implied(condition: exp.Or) -> Iterator[exp.Expr]:
    """Yields what an OR implies, as copies, so that nothing takes them for parts of the text."""
    written = list(condition.flatten())
    if len(written) > MAX_BRANCHES or len(relations_in(condition)) < 2:
        return
    branches = [_parts(branch) for branch in written]
    first, *others = branches
    common = [text for text in first if all(text in other for other in others)]
    yield from (first[text].copy() for text in common)
    rest = [[part for text, part in branch.items() if text not in common] for branch in branches]
    for relation in sorted(frozenset.intersection(*map(alone_in, rest))):
        own = ([part for part in branch if relations_in(part) == {relation}] for branch in rest)
        yield exp.or_(*(exp.paren(exp.and_(*branch)) for branch in own), copy=False)


def _parts(branch: exp.Expr) -> Mapping[str, exp.Expr]:
    """Returns the branch's conditions by their texts, in which the sides of an equality have one order."""
    bare = branch.unnest()
    parts = [operand.unnest() for operand in bare.flatten()] if isinstance(bare, exp.And) else [bare]
    return {_text(part): part for part in parts}


def _text(condition: exp.Expr) -> str:
    if isinstance(condition, exp.EQ):
        return " = ".join(sorted((condition.left.sql(), condition.right.sql())))
    return condition.sql()
