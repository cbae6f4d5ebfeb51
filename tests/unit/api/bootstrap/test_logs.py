from __future__ import annotations

import json
import logging
from typing import Any

import httpx
import pytest
import structlog

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel
from tests.fakes.gateway import FakeGateway

EVIL = 'x\n{"event": "forged"}\r\x1b[31m\u2028'


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return [json.loads(line) for line in captured.err.split("\n") if line]


@pytest.mark.anyio
async def test_every_request_is_one_line_with_its_ids(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    response = await client.post(
        "/query", json={"sql": "select 'private'"}, headers={"X-Request-Id": "mine-1"}
    )
    assert response.headers["x-request-id"] == "mine-1"
    own = [line for line in lines(capsys) if line["logger"] == "api.request"]
    assert len(own) == 1
    assert own[0]["request_id"] == "mine-1"
    assert own[0]["query_id"] == response.json()["queryId"]
    assert (own[0]["path"], own[0]["status"], own[0]["caller"]) == ("/query", 200, "anonymous")
    assert "private" not in json.dumps(own)


@pytest.mark.anyio
@pytest.mark.parametrize("sent", ["", "a" * 129, "a b", "a\tb", "\x7f"])
async def test_an_odd_request_id_is_replaced(client: httpx.AsyncClient, sent: str) -> None:
    response = await client.get("/healthz", headers={"X-Request-Id": sent})
    assert len(response.headers["x-request-id"]) == 32


@pytest.mark.anyio
async def test_a_defect_is_logged_with_its_stack_and_the_request_id(
    client: httpx.AsyncClient, gateway: FakeGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    gateway.queries.refusal = RuntimeError("a defect")
    response = await client.post("/query", json={"sql": "select 1"})
    [defect] = [line for line in lines(capsys) if line["level"] == "error"]
    assert "RuntimeError: a defect" in defect["exception"]
    assert defect["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize("log_format", list(LogFormat))
def test_secrets_in_what_libraries_say_are_masked(
    capsys: pytest.CaptureFixture[str], log_format: LogFormat
) -> None:
    configure_logging(LogLevel.INFO, log_format)
    try:
        raise RuntimeError("GET https://me:hunter2@store/c?sig=hunter2")
    except RuntimeError:
        logging.getLogger("library").exception("sent Authorization: Bearer hunter2")
    written = capsys.readouterr().err
    assert "RuntimeError" in written
    assert "hunter2" not in written


@pytest.mark.parametrize("log_format", list(LogFormat))
@pytest.mark.parametrize("name", ["detail", "reason", "sql", "rewritten_sql", "build", "relation"])
def test_secrets_in_the_words_of_others_are_masked(
    capsys: pytest.CaptureFixture[str], log_format: LogFormat, name: str
) -> None:
    configure_logging(LogLevel.INFO, log_format)
    words = {name: "Failed: s3a://me:hunter2@bucket/inbox"}
    structlog.stdlib.get_logger("ours").warning("executors_failed", **words)
    written = capsys.readouterr().err
    assert "bucket/inbox" in written
    assert "hunter2" not in written


def test_a_reason_is_masked_before_it_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    reason = "at org.apache.spark".ljust(1_980) + "s3a://me:hunter2-which-is-long@bucket/inbox"
    structlog.stdlib.get_logger("ours").warning("executors_failed", reason=reason)
    [line] = lines(capsys)
    assert "hunter2" not in line["reason"]
    assert len(line["reason"]) == 2_000


@pytest.mark.parametrize("log_format", list(LogFormat))
def test_text_from_outside_cannot_begin_a_line(
    log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, log_format)
    structlog.stdlib.get_logger("ours").info("event", path=EVIL)
    logging.getLogger("theirs").warning("said %s", EVIL)
    try:
        raise ValueError(EVIL)
    except ValueError:
        structlog.stdlib.get_logger("ours").exception("failed")
    written = capsys.readouterr().err
    assert not [line for line in written.splitlines() if line.startswith('{"event": "forged"}')]
    assert "\x1b[31m" not in written
    assert "\u2028" not in written or log_format is LogFormat.JSON


def test_lines_of_libraries_look_like_ours(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    structlog.contextvars.bind_contextvars(request_id="r1")
    logging.getLogger("pyiceberg.catalog").info("Loaded")
    logging.getLogger("uvicorn.error").debug("below the level")
    structlog.contextvars.clear_contextvars()
    [line] = lines(capsys)
    assert (line["event"], line["logger"], line["level"], line["request_id"]) == (
        "Loaded",
        "pyiceberg.catalog",
        "info",
        "r1",
    )


def test_java_stacks_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogLevel.DEBUG, LogFormat.JSON)
    for name in ("SQLQueryContextLogger", "py4j", "py4j.clientserver"):
        logging.getLogger(name).error("a Java stack")
    assert lines(capsys) == []
