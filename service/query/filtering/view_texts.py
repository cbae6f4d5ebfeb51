"""What a view stands for, and whether the engine takes it for the same; each found out once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from service.errors import CatalogDown
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableFacts, TableSource
from service.model.tables.views import View, ViewReading
from service.ports import Catalogs, Views
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.table_names import table_names
from service.pruning.sql_text.view_text import view_text

VIEWS_KEPT = 512

Versions = frozenset[tuple[TableAt, str, int]]


@dataclass(frozen=True, slots=True)
class ViewBody:
    """A view's text with full names, and the tables and views that it names."""

    parsed: ParsedQuery
    names: Mapping[int, TableAt]


@dataclass(frozen=True, slots=True)
class ViewQuestion:
    """Equal when the engine reads the same of the same: columns of tables and of views."""

    reading: ViewReading
    tables: Versions
    views: frozenset[View]


class ViewTexts:
    """Any thread may ask."""

    def __init__(self, views: Views, catalogs: Catalogs, catalog_names: frozenset[str]) -> None:
        self._views = views
        self._catalogs = catalogs
        self._catalog_names = catalog_names
        self._bodies = lru_cache(VIEWS_KEPT)(self._body)
        self._answers = lru_cache(VIEWS_KEPT)(self._answer)

    def body(self, view: View) -> ViewBody | None:
        """The view's text for any place; None when it is not sure to mean the same there."""
        return self._bodies(view)

    def is_read_alike(self, question: ViewQuestion) -> bool:
        """Whether the engine makes the same of view and text, as long as the columns below are these.

        Raises:
            CatalogDown: nobody can tell now.
        """
        return self._answers(question)

    def _body(self, view: View) -> ViewBody | None:
        parsed = parse(view.sql)
        text = None if parsed is None else view_text(parsed, view, self._catalog_names)
        body = None if text is None else parse(text)
        if body is None:
            return None
        names = table_names(body, self._catalog_names, None, None)
        # A name of one part is left to a common table expression only.
        are_known = all(len(each.parts) == 1 or each.end in names for each in body.references)
        return ViewBody(body, names) if are_known else None

    def _answer(self, question: ViewQuestion) -> bool:
        if not self._views.is_read_alike(question.reading):
            return False
        now = self._catalogs.facts_of([table for table, *_ in question.tables])
        if versions(now) != question.tables:
            # What was just compared is not what the question was about.
            raise CatalogDown("The tables behind a view have changed while it was looked at.")
        return True


def versions(facts: Mapping[TableAt, TableFacts]) -> Versions:
    """What a table's columns depend on; one without snapshots has another identity with each file."""
    return frozenset(
        (table, str(each.table_uuid) if each.source is TableSource.ICEBERG else "", each.schema_id)
        for table, each in facts.items()
    )
