"""Tests the session that statements of one command share, once one of them needs it."""

from __future__ import annotations

from uuid import UUID

import pytest

from api.bootstrap.settings import Settings
from service.errors.session_errors import SessionNotFound
from tests.client.cli.running import Cli
from tests.client.cli.test_terminal import shell
from tests.client.gateways import Served


def sent(gateway: Served) -> list[tuple[str, UUID | None, str | None]]:
    """Returns the text of each statement, its session and its catalog."""
    requests = [query.request for query in gateway.queries.by_id.values()]
    return [(each.sql, each.session.session_id if each.session else None, each.catalog) for each in requests]


def check_ended(gateway: Served, session_id: UUID | None) -> None:
    caller = next(iter(gateway.queries.by_id.values())).record.caller
    assert session_id is not None
    with pytest.raises(SessionNotFound):
        gateway.gateway.sessions.use(session_id, caller)


def test_statements_after_a_use_share_its_session(cli: Cli, gateway: Served) -> None:
    text = "SELECT 1 AS a; USE lake.tpcds; SELECT 2 AS b; SET x = 1; SELECT 3 AS c"
    ended = cli.run("query", text, "--catalog", "shop", "--schema", "s")
    assert ended.code == 0, ended.err
    first, refused, *others = sent(gateway)
    assert first == ("SELECT 1 AS a", None, "shop")
    # The gateway says which statements need a session; that one is sent again.
    assert refused == ("USE lake.tpcds", None, "shop")
    assert [sql for sql, _, _ in others] == ["USE lake.tpcds", "SELECT 2 AS b", "SET x = 1", "SELECT 3 AS c"]
    [session_id] = {session_id for _, session_id, _ in others}
    # The session began with the catalog of the command line.
    assert {catalog for _, _, catalog in others} == {"shop"}
    check_ended(gateway, session_id)


def test_a_statement_alone_has_no_session_to_change(cli: Cli, gateway: Served) -> None:
    ended = cli.run("query", "USE lake.tpcds")
    assert (ended.code, "SESSION_REQUIRED" in ended.err) == (1, True)
    assert len(gateway.queries.by_id) == 1


def test_a_session_ends_also_when_a_statement_fails(cli: Cli, gateway: Served) -> None:
    ended = cli.run("query", "USE lake.tpcds; SELECT nope")
    assert ended.code == 1
    check_ended(gateway, sent(gateway)[-1][1])


def test_the_interactive_mode_begins_one_when_it_is_needed(cli: Cli, gateway: Served) -> None:
    with shell(cli) as terminal:
        terminal.type("USE lake.tpcds;\r")
        terminal.read_until("0 rows")
        terminal.type("SELECT 40 + 2 AS answer;\r")
        assert "42" in terminal.read_until("366 of 2,003 files")
        terminal.type("\\d store_returns\r")
        terminal.read_until("sluice>")
        terminal.type("\\q\r")
        assert terminal.wait() == 0
    session_id = sent(gateway)[-1][1]
    assert [each for _, each, _ in sent(gateway)] == [None, session_id, session_id]
    check_ended(gateway, session_id)


def test_a_session_that_is_gone_is_said_once(cli: Cli, gateway: Served) -> None:
    with shell(cli) as terminal:
        terminal.type("USE lake.tpcds;\r")
        terminal.read_until("0 rows")
        session_id, caller = sent(gateway)[-1][1], next(iter(gateway.queries.by_id.values())).record.caller
        assert session_id is not None
        gateway.gateway.sessions.end(session_id, caller)
        terminal.type("SELECT 1 AS a;\r")
        terminal.read_until("SESSION_NOT_FOUND")
        terminal.read_until("sluice>")
        terminal.type("SELECT 40 + 2 AS answer;\r")
        terminal.read_until("42")
        terminal.type("\\q\r")
        assert terminal.wait() == 0
    assert sent(gateway)[-1][1] is None


@pytest.mark.parametrize(
    ("text", "limit"), [("max", Settings().max_row_limit), ("MAX", Settings().max_row_limit), ("7", 7)]
)
def test_the_row_limit_may_be_the_operators(cli: Cli, gateway: Served, text: str, limit: int) -> None:
    assert cli.run("query", "SELECT 1", "--row-limit", text).code == 0
    [query] = gateway.queries.by_id.values()
    assert query.request.row_limit == limit


@pytest.mark.parametrize("text", ["many", "-1", "1.5", ""])
def test_another_row_limit_is_wrong_usage(cli: Cli, gateway: Served, text: str) -> None:
    ended = cli.run("query", "SELECT 1", "--row-limit", text)
    assert ended.code == 2
    assert not gateway.queries.by_id
