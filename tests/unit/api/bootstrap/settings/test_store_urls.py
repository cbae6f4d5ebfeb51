"""Store addresses: invalid ones are refused before anything connects to them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from api.bootstrap.settings import Settings
from api.bootstrap.settings.store_urls import check_cache_url, check_postgres_url
from api.bootstrap.shown_settings import MASK, secrets_of, without_secrets

TWO = "postgresql://sluice:s3cret@a:5432,b:5433/sluice"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hunter2@db/x",
        "postgresql+psycopg://me:p%40ss@127.0.0.1:5432/metrics",
        "postgres://me@db/x",
        "postgresql:///x?host=/run/postgresql",
        "postgresql://[::1]:5432/x",
        TWO,
        "postgresql://a,b/sluice",
        "postgresql://a,b/sluice?port=6432",
        f"{TWO}?target_session_attrs=read-write&connect_timeout=2&tcp_user_timeout=3000",
        f"{TWO}?target_session_attrs=primary&sslmode=verify-full&sslrootcert=/etc/authority/ca.crt",
        "postgresql://db/x?sslrootcert=system",
        "postgresql://db/x?target_session_attrs=any",
    ],
)
def test_what_postgresql_understands_is_taken(url: str) -> None:
    check_postgres_url(url)


@pytest.mark.parametrize(
    ("url", "reported"),
    [
        ("mysql://u:s3cret@db/x", "has to begin with postgresql://"),
        ("postgresql+psycopg2://u:s3cret@db/x", "has to begin with postgresql://"),
        ("host=db password=s3cret", "has to begin with postgresql://"),
        ("postgresql://u:s3/cret@db/x", "not a number from 1 to 65535"),
        ("postgresql://u:s3cret@a:5432,:5433/x", "one of its hosts is empty"),
        ("postgresql://u:s3cret@a:5432,b:5433,c/x?port=1,2", "one port for all hosts, or one for each"),
        ("postgresql://u:s3cret@a:99999/x", "not a number from 1 to 65535"),
        ("postgresql://u:s3cret@a:post/x", "not a number from 1 to 65535"),
        (f"{TWO}?target_session_attr=read-write", "Did you mean target_session_attrs?"),
        (f"{TWO}?sslmodus=require", "Did you mean sslmode?"),
        (f"{TWO}?target_session_attrs=any", "the gateway writes"),
        (f"{TWO}?target_session_attrs=prefer-standby", "the gateway writes"),
        ("postgresql://u:s3cret@db/x?target_session_attrs=standby", "the gateway writes"),
        ("postgresql://u:s3cret@/x?host=a&host=b", "host is there twice"),
        (f"{TWO}?sslrootcert=/ca.pem", "without sslmode=verify-full"),
    ],
)
def test_what_it_does_not_understand_is_refused_without_a_secret(url: str, reported: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate({"metrics_store_url": url})
    assert reported in str(refused.value)
    assert "s3" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2@cache",
        "redis://cache:6380/3",
        "redis://cache?db=3&socket_timeout=0.2",
        "rediss://u:p@cache:6379/0?ssl_ca_certs=/etc/authority/ca.crt&ssl_check_hostname=false",
        "redis+sentinel://a,b:26380,c/cache",
        "rediss+sentinel://u:p@a,b/cache/2?sentinel_password=q&ssl_ca_certs=/ca.pem",
        "redis+cluster://:p@a:7000,b:7001",
        "redis+cluster://[::1]:7000/0",
        "unix:///run/valkey.sock",
    ],
)
def test_what_is_an_address_of_a_filter_cache_is_taken(url: str) -> None:
    check_cache_url(url)


@pytest.mark.parametrize(
    ("url", "reported"),
    [
        ("cache:6379", "not an address of a filter cache"),
        ("http://:s3cret@cache", "not an address of a filter cache"),
        ("sentinel://:s3cret@cache/x", "not an address of a filter cache"),
        ("redis://:s3cret@a:1,b:2", "redis+sentinel:// or redis+cluster://"),
        ("redis://:s3cret@", "one of its hosts is empty"),
        ("redis://:s3cret@a:99999", "one of its ports"),
        ("redis://:s3cret@a:0", "one of its ports"),
        ("redis://:s3cret@a/b", "its database is not a number"),
        ("redis://:s3cret@a/0/1", "more than a database's number"),
        ("redis+sentinel://:s3cret@a,b", "the master's name"),
        ("redis+sentinel://:s3cret@a,b,a/cache", "a server twice"),
        ("redis+cluster://:s3cret@a,b/1", "the database 0 alone"),
        ("redis+cluster://:s3cret@a?sentinel_password=x", "no option sentinel_password"),
        ("redis://:s3cret@a?ssl_ca_certs=/ca.pem", "begin it with rediss"),
        ("rediss://:s3cret@a?ssl_cert_reqs=maybe", "ssl_cert_reqs has no value"),
        ("redis://:s3cret@a?sockettimeout=3", "no option sockettimeout"),
        ("redis+sentinel://:s3cret@" + ",".join(f"h{number}" for number in range(17)) + "/m", "more than 16"),
    ],
)
def test_what_is_none_is_refused_without_a_secret(url: str, reported: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate({"filter_cache_url": url})
    assert reported in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_passwords_of_several_hosts_and_of_sentinels_are_masked() -> None:
    settings = Settings.model_validate(
        {
            "metrics_store_url": f"{TWO}?sslpassword=keyword",
            "filter_cache_url": "redis+sentinel://:hushhush@a,b/cache?sentinel_password=quiet%40night",
        }
    )
    said = "s3cret, keyword, hushhush, quiet@night"
    assert without_secrets(said, secrets_of(settings)) == ", ".join([MASK] * 4)
