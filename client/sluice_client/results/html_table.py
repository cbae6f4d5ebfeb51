"""The first rows of a result as a table for notebooks: bounded in rows, columns and text.

It has no script and loads nothing. All text of the result is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from sluice_client.query.query_answer import Column
from sluice_client.results.result_facts import ResultFacts

MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 20, 30, 200
_NUMBER = 'style="text-align:right"'


def html_table(facts: ResultFacts, rows: Sequence[Sequence[Any]], problem: str | None = None) -> str:
    """Returns the table, and below it how many rows there are.

    Args:
        facts: the result's own.
        rows: its first ones; those after `MAX_ROWS` are left out.
        problem: why no rows are shown.
    """
    columns = facts.columns[:MAX_COLUMNS]
    more = len(facts.columns) > MAX_COLUMNS
    head = "".join(map(_head, columns)) + ("<th>…</th>" if more else "")
    shown = rows[:MAX_ROWS]
    body = "".join(f"<tr>{''.join(_cells(row, more))}</tr>" for row in shown)
    note = ". ".join(_note(facts, len(shown), problem))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{table}<p><small>{note}</small></p></div>"


def _head(column: Column) -> str:
    return f"<th>{escape(_cut(column.name))}<br><small>{escape(_cut(column.type))}</small></th>"


def _cells(row: Sequence[Any], more: bool) -> Iterator[str]:
    for value in row[:MAX_COLUMNS]:
        if value is None:
            yield "<td><i>NULL</i></td>"
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"<td {_NUMBER}>{escape(_cut(str(value)))}</td>"
        else:
            yield f"<td>{escape(_cut(str(value)))}</td>"
    if more:
        yield "<td>…</td>"


def _note(facts: ResultFacts, shown: int, problem: str | None) -> Iterator[str]:
    count = facts.manifest.row_count
    rows = f"{count:,} row{'' if count == 1 else 's'} of {len(facts.columns)} columns"
    yield rows if problem or shown == count else f"The first {shown:,} of {rows}"
    if facts.manifest.is_truncated:
        yield "<b>Cut at a limit: there are more rows</b>"
    if facts.reused is not None:
        yield f"A result of {facts.reused.age_ms / 1000:,.1f} s ago"
    if problem is not None:
        yield escape(problem)
    yield f"Query <code>{facts.query_id}</code>"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
