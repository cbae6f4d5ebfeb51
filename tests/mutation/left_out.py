"""Places of a module where a change cannot change a result, or where no test should notice it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Position = tuple[int, int]
"""A line, from 1, and a column, from 0."""

LOGGERS = {"log", "_log"}
LARGE = 100
"""A bound of 200,000 may as well be 200,001. A test would only repeat the number."""


def left_out(source: str) -> list[tuple[Position, Position]]:
    """Returns the start and the end of each of these places.

    A decorator is `@dataclass(frozen=True)`, `@cache` or `@override` nearly everywhere. A class or a property
    without its decorator breaks every test, and says nothing about them.
    """
    return [
        # One column earlier: there is the `@` of a decorator.
        ((node.lineno, node.col_offset - 1), (node.end_lineno or 0, node.end_col_offset or 0))
        for parent in ast.walk(ast.parse(source))
        for node in _left_out_of(parent)
    ]


def _left_out_of(node: ast.AST) -> Iterator[ast.expr | ast.stmt | ast.keyword]:
    match node:
        case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
            yield annotation
        case ast.FunctionDef(returns=returns, decorator_list=decorators):
            yield from (*decorators, *filter(None, [returns]))
        case ast.ClassDef(decorator_list=decorators):
            yield from decorators
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))) if name in LOGGERS:
            yield node
        case ast.keyword(arg="strict"):  # of `zip`: it finds faults, and changes no result without one
            yield node
        case ast.Constant(value=int() | float() as number) if number >= LARGE:
            yield node
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            yield node
