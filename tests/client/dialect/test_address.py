"""Tests addresses of engines: what becomes an argument, what is refused, and that no secret is shown."""

from __future__ import annotations

import hashlib
import traceback
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from sluice_client.settings import RetryPolicy, Timeouts
from sluice_client.sqlalchemy import SluiceDialect, SluiceHttpsDialect
from tests.client.gateways import furnished, serving

TOKEN = "correct-horse-battery-staple"
LIMITS = {"row_limit": "MAX", "byte_limit": "MAX"}

ADDRESSES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "host": ("sluice://gateway", "http://gateway", {}),
    "port": ("sluice://gateway:8080/", "http://gateway:8080", {}),
    "IPv6": ("sluice://[::1]:8080", "http://[::1]:8080", {}),
    "catalog": ("sluice://gateway/lake", "http://gateway", {"catalog": "lake"}),
    "schema": ("sluice://gateway/lake/tpcds", "http://gateway", {"catalog": "lake", "schema": "tpcds"}),
    "levels": ("sluice://g/lake/shop.north/", "http://g", {"catalog": "lake", "schema": "shop.north"}),
    "token": (f"sluice://:{TOKEN}@gateway", "http://gateway", {"token": TOKEN}),
    "name and token": (f"sluice://kim:{TOKEN}@gateway", "http://gateway", {"token": TOKEN}),
    "escaped token": ("sluice://:a%40b%2F%3Ac@gateway", "http://gateway", {"token": "a@b/:c"}),
    "timeout": ("sluice://g?timeout_s=1.5", "http://g", {"query_options": {**LIMITS, "timeout_s": 1.5}}),
    "limits": (
        "sluice://g?row_limit=10&byte_limit=max",
        "http://g",
        {"query_options": {"row_limit": 10, "byte_limit": "MAX"}},
    ),
    "reuse": (
        "sluice://g?reuse_result=true",
        "http://g",
        {"query_options": {**LIMITS, "reuse_result": True}},
    ),
    "refresh": (
        "sluice://g?reuse_result=refresh",
        "http://g",
        {"query_options": {**LIMITS, "reuse_result": "REFRESH"}},
    ),
    "waits": (
        "sluice://g?connect_s=1&query_s=2",
        "http://g",
        {"timeouts": Timeouts(connect_s=1, query_s=2)},
    ),
    "retries": (
        "sluice://g?attempts=1&total_s=5",
        "http://g",
        {"retries": RetryPolicy(attempts=1, total_s=5)},
    ),
    "tags": ("sluice://g?tag.team=sales&tag.app=x", "http://g", {"tags": {"team": "sales", "app": "x"}}),
    "session": ("sluice://g?session=true", "http://g", {"session": True}),
    "no session": ("sluice://g?session=false", "http://g", {}),
    "values of a session": (
        "sluice://g?time_zone=Europe/Berlin&setting.spark.sql.ansi.enabled=false",
        "http://g",
        {"session": {"time_zone": "Europe/Berlin", "settings": {"spark.sql.ansi.enabled": "false"}}},
    ),
    "certificates": (
        "sluice://g?ca_file=/a.pem&certificate=/b.pem&key=/c.pem",
        "http://g",
        {"ca_file": "/a.pem", "certificate": ("/b.pem", "/c.pem")},
    ),
}


@pytest.mark.parametrize(("address", "url", "arguments"), ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_becomes_arguments(address: str, url: str, arguments: dict[str, Any]) -> None:
    assert SluiceDialect().create_connect_args(make_url(address)) == (
        [url],
        {"query_options": LIMITS, **arguments},
    )


def test_https_is_a_driver_of_the_dialect() -> None:
    found, _ = SluiceHttpsDialect().create_connect_args(make_url("sluice+https://gateway:8443/lake"))
    assert found == ["https://gateway:8443"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sluice:///lake", "no host"),
        (f"sluice://{TOKEN}@gateway", "as the password"),
        (f"sluice://gateway?token={TOKEN}", "not known: token"),
        ("sluice://g/lake/tpcds/t", "/catalog/schema"),
        ("sluice://g//tpcds", "/catalog/schema"),
        ("sluice://g?row_limit=-1", "row_limit"),
        ("sluice://g?timeout_s=soon", "timeout_s"),
        ("sluice://g?timeout_s=1&timeout_s=2", "more than once"),
        ("sluice://g?connect_s=0", "above 0"),
        ("sluice://g?attempts=1.5", "attempts"),
        ("sluice://g?reuse_result=maybe", "neither true nor false"),
        ("sluice://g?session=false&time_zone=UTC", "session"),
        ("sluice://g?certificate=/b.pem", "go together"),
        ("sluice://g?tag.=x", "not known"),
    ],
)
def test_what_an_address_may_not_have_is_refused(address: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as raised:
        SluiceDialect().create_connect_args(make_url(address))
    assert TOKEN not in str(raised.value)


def test_no_repr_shows_the_token() -> None:
    engine = sa.create_engine(f"sluice://kim:{TOKEN}@127.0.0.1:1/lake/tpcds?attempts=1")
    shown = [
        str(engine),
        repr(engine),
        str(engine.url),
        repr(engine.url),
        repr(engine.pool),
        repr(engine.dialect),
    ]
    assert not [text for text in shown if TOKEN in text]
    assert "kim:***@" in str(engine.url)
    with pytest.raises(sa.exc.OperationalError) as raised, engine.connect() as connection:
        connection.execute(sa.text("SELECT 1"))
    assert TOKEN not in "".join(traceback.format_exception(raised.value))


def test_the_token_reaches_the_gateway_and_no_error_shows_one() -> None:
    tokens = {"ana": hashlib.sha256(TOKEN.encode()).hexdigest()}
    with serving(api_tokens=tokens) as (url, gateway), furnished(url, gateway) as served:
        host = url.removeprefix("http://")
        with sa.create_engine(f"sluice://:{TOKEN}@{host}/lake/tpcds").connect() as connection:
            assert connection.execute(sa.text("SELECT 1")).scalar() == 1
            assert sa.inspect(connection).get_table_names() == ["store_returns"]
            connection.invalidate()
        assert {query.record.caller for query in served.queries.by_id.values()} == {"ana"}
        wrong = sa.create_engine(f"sluice://:{TOKEN}-not@{host}/lake/tpcds")
        with wrong.connect() as connection, pytest.raises(sa.exc.OperationalError) as raised:
            connection.execute(sa.text("SELECT 1"))
        wrong.dispose()
    assert TOKEN not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("token", ["two words", "line\nend"])
def test_an_error_about_the_token_does_not_show_it(token: str) -> None:
    engine = sa.create_engine(sa.URL.create("sluice", "kim", token, "127.0.0.1", 1))
    with pytest.raises(sa.exc.InterfaceError, match="characters") as raised:
        engine.connect()
    assert token not in "".join(traceback.format_exception(raised.value))


def test_the_package_names_its_dialects() -> None:
    import tomllib

    import sluice_client

    project = tomllib.loads((Path(sluice_client.__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    named = project["project"]["entry-points"]["sqlalchemy.dialects"]
    assert {name: value.partition(":")[2] for name, value in named.items()} == {
        "sluice": "SluiceDialect",
        "sluice.http": "SluiceDialect",
        "sluice.https": "SluiceHttpsDialect",
    }
    assert {value.partition(":")[0] for value in named.values()} == {"sluice_client.sqlalchemy"}
