"""Trees as text, for Spark."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.spark import Spark

_SPARK = Spark()


def spelled(tree: exp.Expr, identify: bool = False) -> str:
    """The text of a tree that was made to be written: unlike `sql`, this does not copy it before.

    Copies take most of the time; they are there because writing may leave a tree changed.

    >>> spelled(exp.column("a").eq("b"), identify=True)
    "`a` = 'b'"
    """
    return _SPARK.generate(tree, copy=False, identify=identify)
