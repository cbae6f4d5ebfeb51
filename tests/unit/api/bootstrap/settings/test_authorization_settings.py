"""Tests which settings of authorization go together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from api.bootstrap.settings import Settings
from api.bootstrap.settings.callers.authorization import Authorization

CLIENTS = {
    "tls_certificate_file": Path("a"),
    "tls_key_file": Path("b"),
    "tls_client_certificates": "optional",
    "tls_client_ca_file": Path("c"),
}


def settings(**given: Any) -> Settings:
    return Settings(**given)


def test_policies_do_not_decide_by_default() -> None:
    assert settings().authorization is Authorization.OFF


def test_callers_with_tokens_or_certificates_get_their_roles_from_a_setting() -> None:
    given = settings(api_tokens={"ada": "0" * 64}, principal_roles={"ada": ["analyst", "realm:data team"]})
    assert given.principal_roles == {"ada": ("analyst", "realm:data team")}
    assert settings(principal_roles={"certificate:loader": ["loader"]}, **CLIENTS).principal_roles


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"principal_roles": {"ada": ["analyst"]}, "api_keys": True}, "no token in api_tokens"),
        ({"principal_roles": {"a b": ["analyst"]}, **CLIENTS}, "without spaces"),
        ({"principal_roles": {"ada": [" a"]}, **CLIENTS}, "no space at its ends"),
        ({"policies_poll_s": 30, "policies_max_age_s": 60}, "not more than twice policies_poll_s"),
        ({"authorization": "on"}, "'off' or 'policies'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        settings(**given)
