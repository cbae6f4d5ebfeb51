"""Completes keywords, tables, columns and commands while a statement is typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from sluice_client.cli.interactive.known_names import KnownNames, spelled, table_spelling
from sluice_client.cli.interactive.meta_commands import META_COMMANDS

_KEYWORD_TEXT = """
ALL AND ANY AS ASC ANTI ARRAY BETWEEN BIGINT BOOLEAN BY CASE CAST COALESCE COUNT CROSS CUBE DATE DECIMAL
DESC DISTINCT DOUBLE ELSE END EXCEPT EXISTS EXPLAIN FALSE FIRST FOLLOWING FROM FULL GROUP GROUPING
HAVING IN INNER INT INTERSECT INTERVAL IS JOIN LAST LATERAL LEFT LIKE LIMIT MAP MAX MIN NATURAL NOT NULL
NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PIVOT PRECEDING QUALIFY RANGE RIGHT RLIKE ROLLUP ROW ROWS
SELECT SEMI SETS SMALLINT STRING STRUCT SUM TABLE TABLESAMPLE THEN TIMESTAMP TRUE UNBOUNDED UNION
UNPIVOT USING VALUES WHEN WHERE WINDOW WITH AVG
"""
KEYWORDS = tuple(_KEYWORD_TEXT.split())
_WORD = re.compile(r"[\w.`]*$")
_MAX_SHOWN = 200


class SqlCompleter(Completer):
    """Completes the word before the cursor. It may block, so it is called in a thread."""

    def __init__(self, names: KnownNames) -> None:
        self._names = names

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        """Yields completions of the word, at most two hundred."""
        before = document.text_before_cursor
        if before.lstrip().startswith("\\"):
            yield from self._of_commands(before.lstrip())
            return
        found = _WORD.search(before)
        word = found[0] if found else ""
        if not word:
            return
        shown: set[str] = set()
        for candidate in self._candidates(word, document.text):
            if candidate not in shown:
                shown.add(candidate)
                yield Completion(candidate, start_position=-len(word))
            if len(shown) >= _MAX_SHOWN:
                return

    def _of_commands(self, text: str) -> Iterator[Completion]:
        command, space, table = text.partition(" ")
        if not space:
            for known in META_COMMANDS:
                if known.startswith(command):
                    yield Completion(known, start_position=-len(command))
        elif command == "\\d":
            for name in self._tables(table):
                yield Completion(name, start_position=-len(table))

    def _candidates(self, word: str, text: str) -> Iterator[str]:
        qualifier, dot, last = word.rpartition(".")
        columns = list(self._columns(last, text))
        yield from (f"{qualifier}{dot}{column}" for column in columns)
        yield from self._tables(word)
        if not dot:
            lowered = word.lower()
            keywords = [known for known in KEYWORDS if known.lower().startswith(lowered)]
            yield from (known.lower() if word.islower() else known for known in keywords)

    def _columns(self, word: str, text: str) -> Iterator[str]:
        asked = word.strip("`").lower()
        for table in self._names.named_in(text):
            for column in self._names.columns(table):
                shown = spelled(column)
                if shown is not None and column.lower().startswith(asked):
                    yield shown

    def _tables(self, word: str) -> Iterator[str]:
        """Yields full names, which begin with the word in any of their parts."""
        asked = word.replace("`", "").lower()
        for entry in self._names.tables():
            begins = (
                f"{entry.catalog}.{entry.schema}.{entry.table}",
                f"{entry.schema}.{entry.table}",
                entry.table,
            )
            shown = table_spelling(entry)
            if shown is not None and any(name.lower().startswith(asked) for name in begins):
                yield shown
