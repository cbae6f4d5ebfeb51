"""Tests tables within the width of a screen, and text that a terminal would obey."""

from __future__ import annotations

from typing import Any

import pytest

from sluice_client.cli.formats.choose_format import text_format
from sluice_client.cli.formats.row_format import Format, Shown
from sluice_client.cli.formats.table import TableFormat
from sluice_client.cli.terminal.cells import width
from sluice_client.cli.terminal.safe_text import safe_lines, safe_text
from sluice_client.cli.terminal.screen import Style
from sluice_client.query.query_answer import Column

PLAIN = Style(has_colors=False)
HOSTILE = (
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x9b2J",
    "bell\x07",
    "back\x08\x08",
    "line\nfeed",
    "carriage\rreturn",
    "tab\tbed",
    "nul\x00",
    "del\x7f",
    "\u202eright to left",
    "\u2066isolate",
    "para\u2029graph",
    "zero\u200bwidth",
    "\ud800 alone",
    "\x1bP+q\x1b\\",
    "tag\U000e0041",
)
OBEYED = frozenset(map(chr, [*range(32), 127, *range(128, 160)])) - {"\n"}


def shown(columns: list[Column], rows: list[list[Any]], screen_width: int | None) -> list[str]:
    table = TableFormat(columns, PLAIN, screen_width)
    count = Shown(len(rows), len(rows))
    return "".join([*table.begin(), *table.page(rows), *table.end(count)]).splitlines()


def column(name: str, kind: str = "STRING") -> Column:
    return Column(name, kind, True)


@pytest.mark.parametrize("screen_width", [20, 33, 40, 79, 80, 200])
@pytest.mark.parametrize("count", [1, 2, 7, 40, 20_000])
def test_no_line_is_wider_than_the_screen(screen_width: int, count: int) -> None:
    columns = [column(f"name_{number}") for number in range(count)]
    rows = [["日本語" * 9, "x" * (number % 50), None, "é" * 30][number % 4] for number in range(count)]
    lines = shown(columns, [rows], screen_width)
    assert max(map(width, lines[:3])) <= screen_width


def test_a_table_that_is_too_wide_says_so() -> None:
    columns = [column(f"name_{number}") for number in range(12)]
    lines = shown(columns, [["a value that is long"] * 12], 60)
    assert lines[0].endswith(" │ …")
    assert lines[-1] == "(5 of 12 columns fit: --format vertical shows all; values that end with … are cut)"


def test_a_table_in_a_file_is_as_wide_as_its_values() -> None:
    [*_, last] = shown([column("a"), column("b")], [["x" * 500, "y"]], None)
    assert last == "x" * 500 + " │ y"


def test_wide_characters_keep_the_columns_straight() -> None:
    lines = shown([column("name"), column("n", "INT")], [["日本", 1], ["ab", 22]], None)
    assert lines == ["name │  n", "─────┼───", "日本 │  1", "ab   │ 22"]


def test_a_result_without_columns_has_its_rows() -> None:
    assert shown([], [[], []], 80) == ["", "", "", ""]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("asked", [Format.TABLE, Format.VERTICAL, Format.MARKDOWN, Format.JSON, Format.JSONL])
def test_no_format_writes_what_a_terminal_obeys(asked: Format, text: str) -> None:
    columns = [column(text), column("nested", "ARRAY<STRING>")]
    writer = text_format(asked, columns, PLAIN, 80)
    rows = [[text, [text, {text: text}]]]
    written = "".join([*writer.begin(), *writer.page(rows), *writer.end(Shown(1, 1))])
    assert not OBEYED & set(written)
    assert safe_lines(written) == written
    written.encode()


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_safe_text_is_one_line_that_is_printed_as_it_is(text: str) -> None:
    found = safe_text(text)
    assert found.isprintable()
    assert found != text
    assert safe_text(found) == found


def test_ordinary_text_stays_as_it_is() -> None:
    for text in ("", "é日本🙂", "a\\n", "NULL", "tab-less text"):
        assert safe_text(text) == text
