"""The checks of issuers of access tokens by `sluice check` and `sluice doctor`, with a real issuer."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from api.bootstrap.settings import Settings
from api.cli.part_checks import Finding, State, tried
from api.cli.wiring_checks import issuer_checks, login_checks
from tests.fakes.oidc_issuer import AUDIENCE, DISCOVERY, KEYS, OidcIssuer, oidc_issuer


@pytest.fixture
def issuer() -> Iterator[OidcIssuer]:
    with oidc_issuer() as made:
        yield made


def found(url: str, **more: object) -> Finding:
    given = {"issuer": url, "audiences": [AUDIENCE], **more}
    settings = Settings.model_validate({"oidc_issuers": {"corp": given}, "oidc_fetch_timeout_s": 2})
    (finding,) = tried(issuer_checks(settings))
    return finding


def test_without_issuers_nothing_is_tried() -> None:
    assert issuer_checks(Settings()) == []


def test_an_issuer_answers_with_its_keys(issuer: OidcIssuer) -> None:
    issuer.add_key("two")
    assert found(issuer.url) == Finding("issuer corp", State.OK, f"{issuer.url} answers, with 2 keys")


def test_an_issuer_without_a_key_for_the_algorithms_is_named(issuer: OidcIssuer) -> None:
    finding = found(issuer.url, algorithms=["ES384"])
    assert (finding.state, finding.text) == (State.FAILED, f"{issuer.url} publishes no key for ES384.")


@pytest.mark.parametrize(
    ("path", "document", "words"),
    [
        (DISCOVERY, {"issuer": "https://elsewhere.example"}, "is another one's"),
        (DISCOVERY, {}, "is another one's"),
        (KEYS, {"keys": 1}, "not a set of keys"),
    ],
)
def test_a_wrong_document_is_said(
    issuer: OidcIssuer, path: str, document: dict[str, object], words: str
) -> None:
    issuer.answers[path] = (200, json.dumps(document).encode(), {})
    finding = found(issuer.url)
    assert finding.state is State.FAILED
    assert words in finding.text
    assert finding.cure


def found_of_login(url: str) -> Finding:
    given = {
        "oidc_issuers": {"corp": {"issuer": url, "audiences": [AUDIENCE]}},
        "console_logins": {"corp": {"client_id": "console"}},
        "console_url": "https://sluice.example",
        "oidc_fetch_timeout_s": 2,
    }
    (finding,) = tried(login_checks(Settings.model_validate(given)))
    return finding


def test_a_login_says_what_its_client_needs(issuer: OidcIssuer) -> None:
    assert login_checks(Settings()) == []
    finding = found_of_login(issuer.url)
    assert (finding.part, finding.state) == ("login corp", State.OK)
    assert f"{issuer.url}/authorize logs in" in finding.text
    assert finding.text.endswith("https://sluice.example/console/login/corp/callback")


def test_a_login_without_an_endpoint_is_named(issuer: OidcIssuer) -> None:
    issuer.answers[DISCOVERY] = (200, json.dumps({"issuer": issuer.url}).encode(), {})
    finding = found_of_login(issuer.url)
    assert finding.state is State.FAILED
    assert "authorization_endpoint" in finding.text


def test_an_issuer_that_is_down_fails_alone() -> None:
    assert found("http://127.0.0.1:9").state is State.FAILED
