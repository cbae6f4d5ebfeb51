"""The addresses to which lineage may be sent."""

from __future__ import annotations

import pytest
from pydantic import SecretStr, ValidationError

from api.bootstrap.settings import Settings


@pytest.mark.parametrize(
    "url",
    [
        "file:///var/log/lineage.ndjson",
        "http://marquez:5000",
        "https://marquez.example/api/v1/lineage?team=a",
        "https://[::1]:5000/in",
        "kafka://one:9092/lineage",
        "kafka://one:9092,two.example:9093/open.lineage-1",
    ],
)
def test_an_address_says_the_way(url: str) -> None:
    assert Settings(lineage_url=url).lineage_url == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "marquez:5000",
        "/var/log/lineage.ndjson",
        "file://host/lineage",
        "file:///",
        "file:///var/log/",
        "http://",
        "http://ma rquez/",
        "http://marquez:http/",
        "kafka://one:9092",
        "kafka://one/lineage",
        "kafka://one:9092/a/b",
        "ftp://one/lineage",
        "http://one/\n",
    ],
)
def test_an_address_that_leads_nowhere_refuses_the_start(url: str) -> None:
    with pytest.raises(ValidationError, match="lineage_url"):
        Settings(lineage_url=url)


def test_an_address_has_no_user_in_it_and_what_was_in_it_is_not_repeated() -> None:
    with pytest.raises(ValidationError, match="lineage_api_key") as caught:
        Settings(lineage_url="https://ann:hunter2@marquez.example")
    assert "hunter2" not in str(caught.value)


def test_a_key_goes_to_http_receivers_alone() -> None:
    assert Settings(lineage_url="https://one", lineage_api_key=SecretStr("k")).lineage_api_key is not None
    with pytest.raises(ValidationError, match="http"):
        Settings(lineage_url="kafka://one:9092/lineage", lineage_api_key=SecretStr("k"))


@pytest.mark.parametrize("namespace", ["", " a", "a b", "a" * 129, "ü"])
def test_a_namespace_is_plain(namespace: str) -> None:
    with pytest.raises(ValidationError):
        Settings(lineage_namespace=namespace)
