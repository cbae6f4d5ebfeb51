"""Tests what is completed while a statement is typed, and from which requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from sluice_client.cli.command_session import open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.interactive.completer import SqlCompleter
from sluice_client.cli.interactive.known_names import KnownNames
from tests.client.hostile_server import HostileServer, answer, hostile, problem


def entry(name: str) -> dict[str, str]:
    catalog, schema, table = name.split("/")
    return {"name": ".".join((catalog, schema, table)), "catalog": catalog, "schema": schema, "table": table}


def tables(*names: str) -> bytes:
    return answer(json.dumps({"tables": list(map(entry, names)), "missingCatalogs": []}).encode())


def columns(*names: str) -> bytes:
    described = [
        {"fieldId": 1, "name": name, "type": "long", "required": False, "doc": None} for name in names
    ]
    return answer(json.dumps({"name": "t", "columns": described, "partitionSpec": []}).encode())


@contextmanager
def completing(*answers: bytes) -> Iterator[tuple[SqlCompleter, HostileServer]]:
    with hostile(*answers) as server:
        options = ConnectionOptions(
            url=server.url,
            profile=None,
            token_file=None,
            ca_file=None,
            certificate=None,
            key=None,
            is_json_errors=False,
        )
        with open_session(options) as session:
            yield SqlCompleter(KnownNames(session)), server


def completed(completer: SqlCompleter, text: str, after: str = "") -> list[str]:
    document = Document(text + after, len(text))
    return [found.text for found in completer.get_completions(document, CompleteEvent())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM it", ["lake.tpcds.item"]),
        ("SELECT * FROM tpcds.i", ["lake.tpcds.item"]),
        ("SELECT * FROM LAKE.tp", ["lake.tpcds.item", "lake.tpcds.`date dim`"]),
        ("SELECT * FROM `dat", ["lake.tpcds.`date dim`"]),
        ("SEL", ["SELECT"]),
        ("sel", ["select"]),
        ("SELECT ", []),
        ("\\d it", ["lake.tpcds.item"]),
        ("\\", ["\\d", "\\format", "\\q", "\\x", "\\?"]),
    ],
)
def test_words_are_completed(text: str, expected: list[str]) -> None:
    with completing(tables("lake/tpcds/item", "lake/tpcds/date dim")) as (completer, _):
        assert completed(completer, text) == expected


def test_columns_are_those_of_tables_that_the_statement_names() -> None:
    with completing(tables("lake/tpcds/item"), columns("i_item_sk", "i Price")) as (completer, server):
        assert completed(completer, "SELECT i_", " FROM tpcds.item") == ["i_item_sk"]
        assert completed(completer, "SELECT a.i", " FROM lake.tpcds.item AS a") == [
            "a.i_item_sk",
            "a.`i Price`",
        ]
        assert len(server.requests) == 2


def test_a_name_that_a_terminal_would_obey_is_never_typed_for_anybody() -> None:
    with completing(tables("lake/tpcds/it\x1b[2Jem", "lake/tpcds/it`em")) as (completer, _):
        assert completed(completer, "SELECT * FROM it") == ["lake.tpcds.`it``em`"]


@pytest.mark.parametrize("sent", [problem("NOT_READY", 503), b"", answer(b"[]")])
def test_a_gateway_that_does_not_answer_is_asked_once_a_minute(sent: bytes) -> None:
    with completing(sent) as (completer, server):
        for _ in range(3):
            assert completed(completer, "SELECT * FROM wher") == ["where"]
        assert len(server.requests) == 1


def test_the_list_has_a_bound() -> None:
    names = [f"lake/tpcds/item_{number}" for number in range(1000)]
    with completing(tables(*names)) as (completer, _):
        assert len(completed(completer, "SELECT * FROM item")) == 200
