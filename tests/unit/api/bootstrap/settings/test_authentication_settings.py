"""Tests which settings of authentication go together, and the errors of those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from api.bootstrap.settings import Settings
from api.bootstrap.shown_settings import masked_text
from api.http.app import create_app
from tests.fakes.gateway import FakeGateway

ISSUER = {"issuer": "https://login.example.com", "audiences": ["sluice"]}
TLS = {"tls_certificate_file": Path("a"), "tls_key_file": Path("b")}
CLIENTS = TLS | {"tls_client_certificates": "optional", "tls_client_ca_file": Path("c")}
WAYS: list[dict[str, Any]] = [
    {"api_tokens": {"ada": "0" * 64}},
    {"api_keys": True},
    {"oidc_issuers": {"corp": ISSUER}},
    CLIENTS,
]


LOGINS: dict[str, Any] = {
    "oidc_issuers": {"corp": ISSUER},
    "console_logins": {"corp": {"client_id": "console"}},
    "console_login_secrets": {"corp": "secret"},
    "console_url": "https://Sluice.example:443/",
}


def settings(**given: Any) -> Settings:
    return Settings(**given)


@pytest.mark.parametrize("way", WAYS)
def test_any_way_to_say_who_calls_lets_the_gateway_listen_elsewhere(way: dict[str, Any]) -> None:
    assert settings(host="0.0.0.0", **way).has_authentication


@pytest.mark.parametrize("more", [{}, TLS])
def test_without_any_the_start_is_refused_and_the_settings_are_named(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        settings(host="0.0.0.0", **more)
    for name in (
        "api_tokens",
        "api_keys",
        "oidc_issuers",
        "tls_client_certificates",
        "allow_unauthenticated",
    ):
        assert name in str(caught.value)
    assert not settings(host="0.0.0.0", allow_unauthenticated=True, **more).has_authentication
    assert not settings(**more).has_authentication


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tls_key_file": Path("b")}, "go together"),
        ({"tls_certificate_file": Path("a")}, "go together"),
        (TLS | {"tls_client_certificates": "required"}, "tls_client_ca_file"),
        ({"tls_client_certificates": "optional", "tls_client_ca_file": Path("c")}, "tls_certificate_file"),
        ({"oidc_issuers": {"corp": ISSUER | {"issuer": "http://login.example.com"}}}, "not an https address"),
        ({"oidc_issuers": {"corp": ISSUER | {"keys_url": "file:///keys"}}}, "not an https address"),
        ({"oidc_issuers": {"corp": ISSUER | {"audiences": []}}}, "at least 1"),
        ({"oidc_issuers": {"corp": ISSUER | {"algorithms": ["HS256"]}}}, "RS256"),
        ({"oidc_issuers": {"corp": ISSUER | {"algorithms": ["none"]}}}, "RS256"),
        ({"oidc_issuers": {"corp": ISSUER | {"leeway_s": 3600}}}, "300"),
        ({"oidc_issuers": {"corp": ISSUER | {"audience": "x"}}}, "audience"),
        ({"oidc_issuers": {"corp": ISSUER, "same": ISSUER}}, "twice"),
        (CLIENTS | {"oidc_issuers": {"certificate": ISSUER}}, "another name"),
        (LOGINS | {"oidc_issuers": {}}, "not in oidc_issuers"),
        (LOGINS | TLS | {"console_url": "http://127.0.0.1:8080"}, "TLS alone"),
        (LOGINS | {"console_url": None}, "needs console_url"),
        (LOGINS | {"console_logins": {}}, "not in console_logins"),
        (LOGINS | {"console_url": "http://sluice.example"}, "not an https address"),
        (LOGINS | {"console_url": "https://sluice.example/console"}, "not like https://sluice.example"),
        (LOGINS | {"console_url": "https://me@sluice.example"}, "not like https://sluice.example"),
        (LOGINS | {"console_url": "https://bücher.example"}, "as browsers send it"),
        (LOGINS | {"console_logins": {"corp": {"client_id": "a", "scopes": ["profile"]}}}, "openid"),
        (LOGINS | {"console_logins": {"corp": {"client_id": "a", "scopes": ["openid a"]}}}, "single words"),
        (LOGINS | {"console_logins": {"corp": {"client_id": "a", "secret": "b"}}}, "secret"),
        (LOGINS | {"console_logins": {"corp": {"client_id": "a", "parameters": {"State": "b"}}}}, "state"),
        (TLS | {"tls_client_ca_file": Path("c")}, "has no effect"),
        ({"caller_classes": {"ada": "people"}}, "no token"),
        ({"caller_classes": {"a b": "people"}, "api_keys": True}, "without spaces"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        settings(**given)


def test_the_address_of_the_console_is_as_browsers_write_it() -> None:
    assert settings(**LOGINS).console_url == "https://sluice.example"


def test_callers_of_every_kind_can_have_a_class() -> None:
    classes = {"corp:ada": "people", "corp:*": "others"}
    assert settings(caller_classes=classes, oidc_issuers={"corp": ISSUER}).caller_classes == classes


def test_the_ways_that_are_open_are_described() -> None:
    every: dict[str, Any] = {name: value for way in WAYS for name, value in way.items()}
    described = create_app(settings(**every), FakeGateway).openapi()
    schemes = described["components"]["securitySchemes"]
    assert {name: scheme["type"] for name, scheme in schemes.items()} == {
        "bearer": "http",
        "apiKey": "http",
        "oidc-corp": "openIdConnect",
        "clientCertificate": "mutualTLS",
    }
    needed = described["paths"]["/query"]["post"]["security"]
    assert needed == [{"bearer": []}, {"apiKey": []}, {"oidc-corp": []}, {"clientCertificate": []}]
    every["tls_client_certificates"] = "required"
    needed = create_app(settings(**every), FakeGateway).openapi()["paths"]["/keys"]["get"]["security"]
    assert all("clientCertificate" in setting for setting in needed)


def test_keys_and_access_tokens_are_masked_wherever_they_stand() -> None:
    key = f"sluice_0123456789abcdef_{'A' * 43}"
    token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"
    assert (
        masked_text(f"it was {key} and {token}.")
        == "it was sluice_0123456789abcdef_********** and **********."
    )
