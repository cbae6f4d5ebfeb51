"""Expands views: puts their text in the place of their names; everything else stays byte for byte."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from service.model.tables.sql import ParsedQuery, TextSpan
from service.model.tables.tables import NOW, TableAt, TableName
from service.model.tables.views import View

MAX_CHARACTERS = 100_000
"""The longest text that views make; one that names large views often would be made of gigabytes."""


def expand_views(
    parsed: ParsedQuery, names: Mapping[int, TableAt], selects: Mapping[TableName, str]
) -> str | None:
    """Returns the text with these views as derived tables; a name with more than an alias after it stays.

    None: it would be longer than `MAX_CHARACTERS`, which is known before it is made.

    >>> from service.pruning.sql_text.parse import parse
    >>> name = TableName("lake", "shop", "v")
    >>> expand_views(parse("SELECT v.a FROM v, w"), {17: TableAt(name)}, {name: "SELECT a FROM lake.shop.t"})
    'SELECT v.a FROM (SELECT a FROM lake.shop.t) AS `v`, w'
    """
    derived: list[tuple[TextSpan, str, str]] = []
    for reference in sorted(parsed.references, key=lambda reference: reference.start, reverse=True):
        table = names.get(reference.end)
        if table is not None and table.version == NOW and table.name in selects and reference.is_plain:
            alias = "" if reference.alias is not None else f" AS {_quoted(reference.parts[-1])}"
            derived.append((reference.span, selects[table.name], alias))
    text = parsed.sql
    added = sum(len(f"(){alias}") + len(select) - (at.end - at.start) for at, select, alias in derived)
    if len(text) + added > MAX_CHARACTERS:
        return None
    for at, select, alias in derived:
        text = f"{text[: at.start]}({select}){alias}{text[at.end :]}"
    return text


def view_select(view: View, text: str) -> str:
    """Returns the query that yields a view's columns under their recorded names, in their order.

    >>> from service.model.tables.views import ViewColumn
    >>> columns = (ViewColumn("k", "int"), ViewColumn("n", "bigint"))
    >>> view = View(TableName("lake", "shop", "v"), "", "lake", ("shop",), columns)
    >>> print(view_select(view, "SELECT a, b FROM lake.shop.t -- all of it"))
    SELECT `k`, `n` FROM (
    SELECT a, b FROM lake.shop.t -- all of it
    ) AS `v`(`k`, `n`)
    """
    columns = ", ".join(_quoted(column.name) for column in view.columns)
    # The text may end in a comment.
    return f"SELECT {columns} FROM (\n{text}\n) AS {_quoted(view.name.table)}({columns})"


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("spark")
