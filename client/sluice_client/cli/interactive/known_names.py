"""The names of tables and columns for completion, fetched when they are first needed."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sluice_client.cli.command_session import Session
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.errors import SluiceError
from sluice_client.listing.tables import TableEntry, describe_table, list_tables
from sluice_client.settings import RetryPolicy

_FRESH_S = 60.0
_ANSWER_S = 5.0
_MAX_TABLES = 10_000
_MAX_DESCRIBED = 50
_MAX_COLUMNS = 5_000
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WORD = re.compile(r"(?:`[^`]*`|\w+)(?:\.(?:`[^`]*`|\w+))*")


class KnownNames:
    """Tables, and the columns of those that a statement names. A gateway that does not answer knows none."""

    def __init__(self, session: Session, now: Callable[[], float] = time.monotonic) -> None:
        self._session = session
        # A person who types does not wait, and nobody leaves later because of a completion.
        self._context = replace(session.context, retries=RetryPolicy(attempts=1))
        self._now = now
        self._tables: Sequence[TableEntry] = ()
        self._fetched_at: float | None = None
        self._columns: OrderedDict[str, Sequence[str]] = OrderedDict()

    def tables(self) -> Sequence[TableEntry]:
        """Returns the tables, as they were within the last minute."""
        if self._fetched_at is None or self._now() - self._fetched_at > _FRESH_S:
            self._fetched_at = self._now()
            try:
                self._tables = self._session.run(list_tables(self._context, answer_s=_ANSWER_S)).tables[
                    :_MAX_TABLES
                ]
            except SluiceError:
                self._tables = ()
        return self._tables

    def named_in(self, text: str) -> Iterator[str]:
        """Yields the full names of the tables that a text names, as far as they are known."""
        words = {word.replace("`", "").lower() for word in _WORD.findall(text)}
        for entry in self.tables():
            if not words.isdisjoint(_spellings(entry)):
                yield entry.name

    def columns(self, table: str) -> Sequence[str]:
        """Returns the columns of a table, by its full name."""
        if table not in self._columns:
            try:
                described = self._session.run(describe_table(table, self._context, answer_s=_ANSWER_S))
            except SluiceError:
                return ()
            self._columns[table] = [column.name for column in described.columns[:_MAX_COLUMNS]]
            while len(self._columns) > _MAX_DESCRIBED:
                self._columns.popitem(last=False)
        return self._columns[table]


def spelled(name: str) -> str | None:
    r"""Returns a name as SQL spells it; None for a name that a line cannot have.

    >>> spelled("d_year"), spelled("my column"), spelled("a\x1b[m")
    ('d_year', '`my column`', None)
    """
    if safe_text(name) != name or not name:
        return None
    return name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"


def table_spelling(entry: TableEntry) -> str | None:
    """Returns a table's full name as SQL spells it; None if it cannot."""
    parts = [spelled(part) for part in (entry.catalog, *entry.schema.split("."), entry.table)]
    return ".".join(part for part in parts if part) if all(parts) else None


def _spellings(entry: TableEntry) -> set[str]:
    catalog, schema, table = entry.catalog.lower(), entry.schema.lower(), entry.table.lower()
    return {f"{catalog}.{schema}.{table}", f"{schema}.{table}", table}
