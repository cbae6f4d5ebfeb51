"""Puts the texts of temporary views in the places of their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from service.model.sessions.sessions import SessionView
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import NOW, TableAt, TableName
from service.model.tables.views import View
from service.ports.bounded_calls import Answer
from service.pruning.sql_text.expand_views import expand_views
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.view_text import view_text


@dataclass(frozen=True, slots=True)
class WithoutSessionViews:
    """A text without temporary views, and those that it names itself: what each reads."""

    sql: str
    views: Mapping[str, tuple[str, ...]]


def expand_session_views(
    _: Answer, sql: str, views: Sequence[SessionView], catalogs: frozenset[str]
) -> WithoutSessionViews | None:
    """Returns the text without temporary views, for `BoundedCalls`; None if it names none, or is not certain.

    `views` are in order of creation. Names in their texts become full names, and everything else stays byte
    for byte. The engine has to confirm that the text means the same.

    >>> from service.ports.bounded_calls import no_answer
    >>> top = SessionView("top", "SELECT k FROM item WHERE k > 2", "lake", "shop")
    >>> found = expand_session_views(no_answer, "SELECT t.k FROM Top t", (top,), frozenset({"lake"}))
    >>> print(found.sql, dict(found.views))
    SELECT t.k FROM (
    SELECT k FROM `lake`.`shop`.item WHERE k > 2
    ) t {'top': ('item',)}
    """
    known: dict[str, str] = {}
    read: dict[str, tuple[str, ...]] = {}
    for number, view in enumerate(views):
        before = {other.name.lower() for other in views[:number]}
        text = _full_text(view, known, before, catalogs)
        if text is not None:
            known[view.name.lower()] = text
            parsed = parse(view.sql)
            read[view.name.lower()] = () if parsed is None else _named(parsed)
    parsed = parse(sql)
    if parsed is None:
        return None
    used = _used(parsed, known)
    text = _expanded(parsed, used, known)
    again = parse(text) if used and text is not None else None
    if text is None or again is None or _has_name(again, {view.name.lower() for view in views}):
        return None
    return WithoutSessionViews(text, {name: read[name] for name in used.values()})


def _full_text(
    view: SessionView, known: Mapping[str, str], before: set[str], catalogs: frozenset[str]
) -> str | None:
    """Returns the view's text with full names, over those of the views before it; None: it is not certain."""
    parsed = parse(view.sql)
    if parsed is None or view.catalog is None or view.schema is None or "`" in view.schema:
        return None
    expanded = _expanded(parsed, _used(parsed, known), known)
    over_tables = None if expanded is None else parse(expanded)
    if over_tables is None or _has_name(over_tables, before):
        return None
    namespace = tuple(view.schema.split("."))
    name = TableName(view.catalog, view.schema, view.name)
    return view_text(over_tables, View(name, view.sql, view.catalog, namespace, ()), catalogs)


def _used(parsed: ParsedQuery, known: Mapping[str, str]) -> Mapping[int, str]:
    """Returns the views that the text names, by where each name ends."""
    common = _common(parsed)
    named = {
        reference.end: reference.parts[0].lower()
        for reference in parsed.references
        if len(reference.parts) == 1 and reference.is_plain and reference.version == NOW
    }
    return {end: name for end, name in named.items() if name in known and name not in common}


def _expanded(parsed: ParsedQuery, used: Mapping[int, str], known: Mapping[str, str]) -> str | None:
    names = {end: TableAt(TableName("", "", name)) for end, name in used.items()}
    # A text may end in a comment.
    selects = {table_at.name: f"\n{known[table_at.name.table]}\n" for table_at in names.values()}
    return expand_views(parsed, names, selects)


def _has_name(parsed: ParsedQuery, names: set[str]) -> bool:
    """Whether the text names something by one of these names alone."""
    return any(
        len(reference.parts) == 1 and reference.parts[0].lower() in names for reference in parsed.references
    )


def _named(parsed: ParsedQuery) -> tuple[str, ...]:
    """Returns the names in the text, other than those of its own common table expressions."""
    common = _common(parsed)
    names = (".".join(reference.parts) for reference in parsed.references)
    return tuple(name for name in dict.fromkeys(names) if name.lower() not in common)


def _common(parsed: ParsedQuery) -> set[str]:
    return {cte.alias.lower() for cte in parsed.tree.find_all(exp.CTE)}
