"""Logins to the console by issuers."""

from __future__ import annotations

from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from api.bootstrap.settings.callers.oidc_issuers import MOST_ISSUERS, Address, IssuerSettings, Text
from api.bootstrap.settings.value_types import Name
from service.model.authentication.addresses import origin_of

OWN_PARAMETERS = frozenset(
    {
        *("response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "nonce"),
        *("code_challenge", "code_challenge_method", "request", "request_uri"),
    }
)
"""A login depends on these, so no operator may set them to something else."""


def _origin(url: str) -> str:
    origin, parts = origin_of(url), urlsplit(url)
    if origin is None or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("it is not like https://sluice.example: a scheme, a host, and a port if it has one")
    if not origin.isascii():
        raise ValueError("write the host as browsers send it: xn--…")
    return origin


class ConsoleLogin(BaseModel):
    """How users of an issuer log in to the console. The client's secret is in `console_login_secrets`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    client_id: Text
    title: Text | None = None
    scopes: tuple[Text, ...] = Field(("openid",), min_length=1, max_length=50)
    named_by: Literal["id_token", "access_token"] = "id_token"
    parameters: dict[Text, Text] = Field({}, max_length=20)

    @field_validator("scopes")
    @classmethod
    def _asks_for_an_id_token(cls, scopes: tuple[str, ...]) -> tuple[str, ...]:
        if "openid" not in scopes or any(len(scope.split()) != 1 for scope in scopes):
            raise ValueError("scopes are single words, and openid is one of them")
        return scopes

    @field_validator("parameters")
    @classmethod
    def _are_no_parameters_of_the_flow(cls, parameters: dict[str, str]) -> dict[str, str]:
        own = OWN_PARAMETERS & {name.lower() for name in parameters}
        if own:
            raise ValueError(f"{min(own)} is set by the gateway")
        return parameters


class ConsoleLoginSettings(IssuerSettings):
    """Issuers whose users may log in to the console in their browsers."""

    console_logins: dict[Name, ConsoleLogin] = Field(
        {},
        max_length=MOST_ISSUERS,
        description="the name of an issuer in `oidc_issuers` to {client_id, …}: its users log in to the"
        " console",
    )
    console_login_secrets: dict[Name, SecretStr] = Field(
        {},
        max_length=MOST_ISSUERS,
        description="the name of a login to the secret of its client; without one, the client is public",
    )
    console_url: Annotated[Address, AfterValidator(_origin)] | None = Field(
        None,
        description="the address at which browsers open this gateway, such as https://sluice.example;"
        " issuers lead them back there",
    )
    console_login_timeout_s: int = Field(
        600, ge=30, le=3600, description="how long a user may take to log in at an issuer"
    )
    console_login_failures_per_minute: int = Field(
        60,
        ge=1,
        le=100_000,
        description="codes from one address that issuers may refuse before a 429; per replica",
    )

    @model_validator(mode="after")
    def _logins_are_of_issuers(self) -> Self:
        for name in self.console_logins:
            if name not in self.oidc_issuers:
                raise ValueError(f"console_logins has {name}, which is not in oidc_issuers")
        for name in self.console_login_secrets:
            if name not in self.console_logins:
                raise ValueError(f"console_login_secrets has {name}, which is not in console_logins")
        if self.console_logins and self.console_url is None:
            raise ValueError("console_logins needs console_url: issuers lead browsers back to that address")
        return self
