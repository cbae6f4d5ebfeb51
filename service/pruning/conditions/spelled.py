"""Renders trees as SQL for Spark."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.spark import Spark

_SPARK = Spark()


def spelled(tree: exp.Expr, identify: bool = False) -> str:
    """Returns the text of a tree that was built to be rendered; unlike `sql`, this does not copy it first.

    A copy takes most of the time. `sql` makes one because rendering may change the tree.

    >>> spelled(exp.column("a").eq("b"), identify=True)
    "`a` = 'b'"
    """
    return _SPARK.generate(tree, copy=False, identify=identify)
