"""Folds each long list of literals into one node: a tree of many leaves is slow to copy and to write."""

from __future__ import annotations

from sqlglot import exp

from service.pruning.conditions.is_safe_to_render import is_safe_to_render

LONG = 100


def fold_lists(tree: exp.Query) -> exp.Query:
    """Returns the tree with the values of each long IN as one node with the same text; itself without any.

    Only values that are safe to render are folded, so the node may stand wherever its list may.

    >>> from sqlglot import parse_one
    >>> text = f"SELECT a FROM t WHERE a IN ({', '.join(map(str, range(LONG + 1)))})"
    >>> folded = fold_lists(parse_one(text, read="spark"))
    >>> folded.sql("spark") == text, len(list(folded.find_all(exp.Literal)))
    (True, 0)
    """
    if not any(_is_long(in_list) for in_list in tree.find_all(exp.In)):
        return tree
    folded = tree.copy()
    for in_list in folded.find_all(exp.In):
        if _is_long(in_list):
            texts = [_text(value) for value in in_list.expressions]
            if None not in texts:
                in_list.set("expressions", [exp.Var(this=", ".join(map(str, texts)))])
    return folded


def _is_long(condition: exp.In) -> bool:
    return len(condition.expressions) > LONG


def _text(value: exp.Expr) -> str | None:
    """Returns the text of a literal; to call the generator for each would take half a second."""
    literal = value.this if isinstance(value, exp.Neg) else value
    if not isinstance(literal, exp.Literal):
        return None
    if literal.is_string:
        return f"'{literal.name}'" if literal is value and is_safe_to_render(value) else None
    return literal.name if literal is value else f"-{literal.name}"
