"""Tests what notebooks show, and the example notebook."""

from __future__ import annotations

import ast
import json
from datetime import date, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sluice_client
from sluice_client import AsyncConnection, Connection, ConnectionClosed
from sluice_client.query.query_answer import Column, Manifest
from sluice_client.results.html_table import MAX_COLUMNS, MAX_ROWS, MAX_TEXT, html_table
from sluice_client.results.result_facts import ResultFacts
from tests.client.gateways import Served
from tests.integration.docs.samples import GATEWAY

EXAMPLES = sorted((Path(sluice_client.__file__).parents[1] / "examples").glob("*.ipynb"))


class Elements(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def test_a_result_shows_its_first_rows(gateway: Served, connection: Connection) -> None:
    gateway.queries.chunk_rows = 1000
    shown = Elements(connection.query("SELECT range AS n, NULL AS no FROM range(100)")._repr_html_())
    assert shown.tags.count("tr") == 1 + MAX_ROWS
    assert "BIGINT" in shown.texts
    assert "The first 20 of 100 rows of 2 columns" in shown.text
    assert "NULL" in shown.texts
    whole = Elements(connection.query("SELECT 1 AS n")._repr_html_())
    assert "1 row of 1 columns" in whole.text
    assert "first" not in whole.text


def test_a_result_without_rows_shows_its_columns(connection: Connection) -> None:
    shown = Elements(connection.query("SELECT 1 AS n WHERE false")._repr_html_())
    assert (shown.tags.count("tr"), "n" in shown.texts) == (1, True)


def test_a_result_that_was_cut_says_so_wherever_it_is_shown(gateway: Served, connection: Connection) -> None:
    gateway.queries.is_truncated = True
    result = connection.query("SELECT 1 AS n")
    assert "there are more rows" in result._repr_html_()
    assert "cut at a limit" in repr(result)
    gateway.queries.is_truncated = False
    assert "cut" not in repr(connection.query("SELECT 1 AS n"))


def test_a_result_of_a_closed_connection_can_still_be_shown(gateway: Served, connection: Connection) -> None:
    result = connection.query("SELECT 1 AS n")
    connection.close()
    assert "the connection is closed" in result._repr_html_()
    with pytest.raises(ConnectionClosed):
        result.rows()
    assert len(gateway.queries.by_id) == 1


def test_a_result_whose_rows_are_gone_says_why(gateway: Served, connection: Connection) -> None:
    result = connection.query("SELECT 1 AS n")
    gateway.queries.is_expired = True
    shown = Elements(result._repr_html_())
    assert "RESULT_EXPIRED" in shown.text
    assert "n" in shown.texts


@pytest.mark.anyio
async def test_an_async_result_shows_its_columns(async_connection: AsyncConnection) -> None:
    result = await async_connection.query("SELECT 1 AS n")
    assert "await" in result._repr_html_()
    assert "INT" in result._repr_html_()


def facts(columns: list[str], row_count: int) -> ResultFacts:
    return ResultFacts(
        query_id=UUID(int=1),
        request_id=None,
        manifest=Manifest(
            columns=tuple(Column(name, "STRING", is_nullable=True) for name in columns),
            row_count=row_count,
            byte_count=0,
            chunk_count=1,
            is_truncated=False,
        ),
        pruning=None,
        queued_ms=0,
        elapsed_ms=0,
        was_sent_before=False,
        reused=None,
        is_cut_by_surprise=False,
    )


@settings(max_examples=50)
@given(st.data())
def test_any_value_is_text_and_the_table_is_bounded(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.text(max_size=400), max_size=40))
    value = st.text(max_size=400) | st.none() | st.integers() | st.floats() | st.binary(max_size=300)
    rows = data.draw(st.lists(st.tuples(*(value for _ in names)), max_size=30))
    html = html_table(facts(names, len(rows)), rows)
    shown = Elements(html)
    assert set(shown.tags) <= {
        *("div", "table", "thead", "tbody", "tr", "th", "td", "br", "small", "p", "i", "b", "code")
    }
    assert shown.tags.count("tr") == 1 + min(len(rows), MAX_ROWS)
    assert shown.tags.count("th") == min(len(names), MAX_COLUMNS + 1)
    # An escaped character has six bytes at most, and a cell some tags around it.
    assert len(html) < 1000 + (MAX_ROWS + 1) * (MAX_COLUMNS + 1) * (2 * 6 * MAX_TEXT + 60)


def code_cells(path: Path) -> list[dict[str, Any]]:
    document = json.loads(path.read_text("utf-8"))
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_has_no_outputs(path: Path) -> None:
    cells = code_cells(path)
    assert cells
    assert [cell for cell in cells if cell["outputs"] or cell["execution_count"] is not None] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_and_shows_what_it_says(path: Path, gateway: Served) -> None:
    days = [date(1998, 1, 1) + timedelta(days=number) for number in range(1500)]
    dates = pa.table({"d_date_sk": range(len(days)), "d_date": days, "d_year": [day.year for day in days]})
    gateway.queries.database.register("date_dim", dates)
    shown = run_cells(["".join(cell["source"]) for cell in code_cells(path)], gateway.url)
    assert any("days" in text and "<table>" in text for text in shown)
    assert any("<svg" in text for text in shown)
    assert "('Europe/Berlin', [(datetime.date(1998, 1, 1),)])" in shown


def run_cells(cells: list[str], url: str) -> list[str]:
    """Runs the cells one after the other, and returns what each shows: the value of its last expression."""
    names: dict[str, Any] = {}
    shown: list[str] = []
    for cell in cells:
        module = ast.parse(cell.replace(GATEWAY, url))
        last = module.body.pop() if isinstance(module.body[-1], ast.Expr) else None
        exec(compile(module, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    return shown
