"""Tests `sluice query`: where SQL comes from, each format, and what is sent to the gateway."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.client.cli.running import Cli
from tests.client.gateways import Served

ROWS = (
    "SELECT * FROM (VALUES (1, 'a', 1.50::DECIMAL(9,2)), (22, NULL, NULL), (3, '', 0.25::DECIMAL(9,2)))"
    " AS t(n, name, price)"
)


@pytest.fixture(autouse=True)
def _whole(gateway: Served) -> None:
    gateway.queries.chunk_rows = 1000


def test_a_table_has_numbers_on_the_right_and_null_unlike_an_empty_text(cli: Cli) -> None:
    ended = cli.run("query", ROWS, "--format", "table")
    assert ended.code == 0
    assert ended.out.splitlines() == [
        " n │ name │ price",
        "───┼──────┼──────",
        " 1 │ a    │  1.50",
        "22 │ NULL │  NULL",
        " 3 │      │  0.25",
    ]


def test_a_summary_is_on_standard_error_alone(gateway: Served, cli: Cli) -> None:
    ended = cli.run("query", "SELECT 1 AS n")
    [query_id] = gateway.queries.by_id
    assert ended.out == "n\r\n1\r\n"
    assert ended.err == f"1 row in 0.01 s, 366 of 2,003 files, query {query_id}\n"
    assert cli.run("query", "SELECT 1 AS n", "--quiet").err == ""


def test_rows_are_csv_unless_a_terminal_shows_them(cli: Cli) -> None:
    assert cli.run("query", ROWS).out == 'n,name,price\r\n1,a,1.50\r\n22,,\r\n3,"",0.25\r\n'


def test_each_row_can_be_a_block(cli: Cli) -> None:
    ended = cli.run("query", ROWS, "--format", "vertical", "--max-rows", "1")
    assert ended.out.splitlines() == [
        "─── row 1 ───",
        "n     │ 1",
        "name  │ a",
        "price │ 1.50",
        "(1 of 3 rows are shown: --max-rows 0 shows all)",
    ]


def test_json_is_one_array(cli: Cli) -> None:
    ended = cli.run("query", ROWS, "--format", "json")
    assert json.loads(ended.out) == [
        {"n": 1, "name": "a", "price": "1.50"},
        {"n": 22, "name": None, "price": None},
        {"n": 3, "name": "", "price": "0.25"},
    ]
    assert json.loads(cli.run("query", "SELECT 1 AS n WHERE false", "--format", "json").out) == []


def test_json_lines_are_objects_or_pairs_if_two_names_are_equal(cli: Cli, gateway: Served) -> None:
    assert cli.run("query", ROWS, "--format", "jsonl").out.splitlines()[0] == (
        '{"n": 1, "name": "a", "price": "1.50"}'
    )
    gateway.queries.answers["SELECT twice"] = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["n", "n"])
    assert json.loads(cli.run("query", "SELECT twice", "--format", "jsonl").out) == [
        {"name": "n", "value": 1},
        {"name": "n", "value": 2},
    ]


def test_markdown_shows_no_value_as_a_mark(cli: Cli) -> None:
    ended = cli.run("query", "SELECT 1 AS n, 'a|b *c*' AS \"x|y\", NULL AS z", "--format", "markdown")
    assert ended.out.splitlines() == [
        "| n | x\\|y | z |",
        "| ---: | --- | --- |",
        "| 1 | a\\|b \\*c\\* | *NULL* |",
    ]


@pytest.mark.parametrize("rows", [5, 0])
@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrows"])
def test_binary_formats_are_files_by_their_name(
    cli: Cli, gateway: Served, tmp_path: Path, name: str, rows: int
) -> None:
    gateway.queries.chunk_rows = 2
    path = tmp_path / name
    ended = cli.run("query", f"SELECT range AS n FROM range({rows})", "--output", str(path))
    assert (ended.code, ended.out) == (0, ""), ended.err
    found = (
        pq.read_table(path) if name.endswith("parquet") else pa.ipc.open_stream(path.read_bytes()).read_all()
    )
    assert found.column("n").to_pylist() == list(range(rows))


def test_arrow_goes_through_a_pipe(cli: Cli) -> None:
    ended = cli.run("query", "SELECT range AS n FROM range(3)", "--format", "arrow")
    assert pa.ipc.open_stream(ended.data).read_all().column("n").to_pylist() == [0, 1, 2]


@pytest.mark.parametrize("asked", ["csv", "table", "json", "jsonl", "markdown", "vertical"])
def test_a_result_without_rows_has_its_form(cli: Cli, asked: str) -> None:
    ended = cli.run("query", "SELECT 1 AS n WHERE false", "--format", asked)
    expected = {
        "csv": "n\r\n",
        "table": "n\n─\n",
        "json": "[]\n",
        "jsonl": "",
        "markdown": "| n |\n| ---: |\n",
        "vertical": "(no rows)\n",
    }
    assert (ended.code, ended.out) == (0, expected[asked])


def test_sql_comes_from_a_file_or_standard_input(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "days.sql"
    path.write_text("SELECT 41 AS n\n", "utf-8")
    assert cli.run("query", "--file", str(path)).out == "n\r\n41\r\n"
    for arguments in (["query"], ["query", "-"], ["query", "--file", "-"]):
        assert cli.run(*arguments, standard_input="SELECT 42 AS n;\n").out == "n\r\n42\r\n"


def test_several_statements_are_run_one_by_one_until_one_fails(cli: Cli, gateway: Served) -> None:
    sql = "SELECT 1 AS a; -- a comment; with a semicolon\nSELECT ';' AS b;\nSELECT nope;\nSELECT 4"
    ended = cli.run("query", standard_input=sql)
    assert ended.out == "a\r\n1\r\n\nb\r\n;\r\n\n"
    assert ended.code == 1
    sent = [query.request.sql for query in gateway.queries.by_id.values()]
    assert [text.splitlines()[-1] for text in sent] == ["SELECT 1 AS a", "SELECT ';' AS b", "SELECT nope"]


@pytest.mark.parametrize("asked", ["json", "arrow", "parquet"])
def test_several_statements_are_refused_where_one_result_fits(cli: Cli, gateway: Served, asked: str) -> None:
    ended = cli.run("query", "SELECT 1; SELECT 2", "--format", asked)
    assert (ended.code, ended.out) == (2, "")
    assert "2 statements" in ended.err
    assert not gateway.queries.by_id


def test_parameters_have_the_types_of_json_or_of_sql(cli: Cli, gateway: Served) -> None:
    arguments = [
        "--parameter",
        "n=41",
        "--parameter",
        "name=TN",
        "-p",
        "price=1.50",
        "-p",
        "day:DATE=2000-01-01",
    ]
    ended = cli.run("query", "SELECT :n + 1 AS n, :name AS s, :price AS p, :day AS d", *arguments)
    assert ended.out.splitlines()[1].startswith("42,TN,"), ended.err
    [query] = gateway.queries.by_id.values()
    sent = query.request.parameters
    assert isinstance(sent, dict)
    assert [(name, str(value.value)) for name, value in sent.items()] == [
        ("n", "41"),
        ("name", "TN"),
        ("price", "1.50"),
        ("day", "2000-01-01"),
    ]


def test_options_are_sent(cli: Cli, gateway: Served) -> None:
    options = ["--catalog", "lake", "--schema", "tpcds", "--row-limit", "7", "--timeout", "90s"]
    options += ["--priority", "high"]
    assert cli.run("query", "SELECT 1", *options, "--tag", "team=a=b", "--tag", "page=x").code == 0
    [query] = gateway.queries.by_id.values()
    request = query.request
    assert (request.catalog, request.schema, request.row_limit) == ("lake", "tpcds", 7)
    assert (request.timeout_ms, request.tags) == (90_000, {"team": "a=b", "page": "x"})
    assert request.priority.value == "HIGH"


def test_a_cut_result_fails_a_program_and_is_shown_to_people(cli: Cli, gateway: Served) -> None:
    gateway.queries.is_truncated = True
    sql = "SELECT range AS n FROM range(3)"
    refused = cli.run("query", sql)
    assert (refused.code, refused.out) == (1, "")
    assert "--row-limit" in refused.err
    assert cli.run("query", sql, "--allow-truncated").code == 0
    limited = cli.run("query", sql, "--row-limit", "3")
    assert limited.code == 0
    assert "as many as --row-limit allows" in limited.err
    shown = cli.run("query", sql, "--format", "table")
    assert shown.code == 0
    assert "there are more" in shown.err


def test_a_file_appears_only_when_it_is_whole(cli: Cli, gateway: Served, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("before", "utf-8")
    gateway.queries.chunk_rows = 1
    gateway.queries.is_gone_after_its_first_rows = True
    ended = cli.run("query", "SELECT range AS n FROM range(3)", "--output", str(path))
    assert ended.code == 1
    assert "RESULT_EXPIRED" in ended.err
    assert path.read_text("utf-8") == "before"
    assert list(tmp_path.glob(".rows*")) == []
    gateway.queries.is_gone_after_its_first_rows = False
    assert cli.run("query", "SELECT 1 AS n", "--output", str(path)).code == 0
    assert path.read_bytes() == b"n\r\n1\r\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["SELECT 1", "--format", "xml"], "--format is one of"),
        (["SELECT 1", "--timeout", "soon"], "not a duration"),
        (["SELECT 1", "--tag", "team"], "--tag is name=value"),
        (["SELECT 1", "--parameter", "n"], "--parameter is name=value"),
        (["SELECT 1", "--parameter", "n=1", "--parameter", "n=2"], "given twice"),
        (["SELECT 1", "--file", "a.sql"], "not both"),
        (["--file", "nowhere.sql"], "No such file"),
        (["/* nothing */"], "there is no SQL"),
        (["SELECT 1", "--output", "nowhere/rows.csv"], "No such file"),
        (["SELECT :n; SELECT :n", "-p", "n=1"], "--parameter is for one"),
        (["SELECT 1", "--url", "ftp://host"], "http://"),
        (["SELECT 1", "--url", "http://u:secret@host"], "credentials"),
        (["SELECT 1", "--key", "k.pem"], "--certificate"),
        (["SELECT 1", "--ca-file", "nowhere.pem"], "--ca-file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_says_what_is_wrong(cli: Cli, gateway: Served, arguments: list[str], says: str) -> None:
    ended = cli.run("query", *arguments)
    assert ended.code == 2
    assert says in ended.err
    assert "secret" not in ended.err
    assert not gateway.queries.by_id


def test_an_unknown_option_is_wrong_usage(cli: Cli) -> None:
    ended = cli.run("query", "--no-such-option")
    assert ended.code == 2
    assert "--no-such-option" in ended.err
