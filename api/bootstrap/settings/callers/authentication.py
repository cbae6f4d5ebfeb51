"""Settings of authentication."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field, model_validator

from api.bootstrap.settings.callers.console_logins import ConsoleLoginSettings
from api.bootstrap.settings.callers.oidc_issuers import IssuerSettings
from api.bootstrap.settings.serving.serving import ServingSettings, is_loopback
from api.bootstrap.settings.serving.tls import ClientCertificates, TlsSettings
from api.bootstrap.settings.value_types import Words

MOST_CLASSES = 20
"""Each class adds three time series."""


class KeySettings(BaseModel):
    """API keys, and who manages them."""

    api_keys: bool = Field(
        False, description="callers may send API keys, which `sluice keys` and POST /keys make"
    )
    api_key_cache_ttl_s: int = Field(
        5,
        ge=1,
        le=300,
        description="how long a key counts before the store is asked again; a revocation may take as long",
    )
    api_key_outage_s: int = Field(
        900,
        ge=0,
        le=86_400,
        description="how long known keys still count while the metrics store is down",
    )
    admins: Words = Field(
        (), description="callers who may manage API keys by HTTP; keys with the role admin may, too"
    )
    authentication_recheck_s: int = Field(
        5,
        ge=1,
        le=300,
        description="how often a request that lasts, such as a stream of events, is authenticated again",
    )
    auth_failures_per_minute: int = Field(
        20,
        ge=1,
        le=100_000,
        description="failed attempts from one address, or with one key, before a 429; per replica",
    )


class AuthenticationSettings(ConsoleLoginSettings, IssuerSettings, KeySettings, TlsSettings, ServingSettings):
    """All ways to authenticate, and how their settings must fit together."""

    @property
    def has_authentication(self) -> bool:
        """Whether requests need credentials."""
        return bool(self.api_tokens or self.api_keys or self.oidc_issuers or self._has_certificates)

    @model_validator(mode="after")
    def _is_closed_to_strangers(self) -> Self:
        if self.has_authentication or self.allow_unauthenticated or is_loopback(self.host):
            return self
        raise ValueError(
            f"host {self.host} can be reached from other machines: set api_tokens, api_keys, oidc_issuers or"
            " tls_client_certificates, or allow_unauthenticated to let everyone in"
        )

    @model_validator(mode="after")
    def _classes_are_few_and_of_callers(self) -> Self:
        has_others = self.has_authentication and not self._has_tokens_alone
        named = {name for name in self.caller_classes if not name.endswith("*")}
        unknown = named - self.api_tokens.keys()
        if unknown and not has_others:
            raise ValueError(f"caller_classes names {min(unknown)}, who has no token in api_tokens")
        if len(set(self.caller_classes.values())) > MOST_CLASSES:
            raise ValueError(f"caller_classes has more than {MOST_CLASSES} classes")
        return self

    @model_validator(mode="after")
    def _issuers_differ(self) -> Self:
        urls = [issuer.issuer for issuer in self.oidc_issuers.values()]
        if len(set(urls)) < len(urls):
            raise ValueError("oidc_issuers has an issuer twice")
        prefixes = [
            f"{name}:" for name, issuer in self.oidc_issuers.items() if issuer.principal_prefix is None
        ]
        if self.tls_client_certificates is not ClientCertificates.NONE and (
            self.tls_principal_prefix in prefixes
        ):
            raise ValueError(
                f"an issuer in oidc_issuers could name the callers of client certificates, which begin with"
                f" {self.tls_principal_prefix}: give the issuer another name"
            )
        return self

    @model_validator(mode="after")
    def _browsers_come_by_tls(self) -> Self:
        # Otherwise they would get a cookie that this gateway does not take.
        if self.has_tls and self.console_url is not None and not self.console_url.startswith("https:"):
            raise ValueError("console_url begins with http, but this gateway serves TLS alone")
        return self

    @property
    def _has_tokens_alone(self) -> bool:
        return bool(self.api_tokens) and not (self.api_keys or self.oidc_issuers or self._has_certificates)

    @property
    def _has_certificates(self) -> bool:
        return self.tls_client_certificates is not ClientCertificates.NONE
