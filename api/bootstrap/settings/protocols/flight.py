"""Settings of Arrow Flight SQL."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field, model_validator

from api.bootstrap.settings.callers.authentication import AuthenticationSettings
from api.bootstrap.settings.serving.serving import is_loopback
from api.bootstrap.settings.serving.tls import ClientCertificates
from api.bootstrap.settings.value_types import GIB, KIB, MIB


class FlightBoundSettings(BaseModel):
    """How many calls, clients and prepared statements there may be, and how large a message is."""

    flight_max_calls: int = Field(
        256, ge=4, le=10_000, description="calls of Arrow Flight SQL at once; each has a thread"
    )
    flight_max_calls_per_caller: int = Field(128, ge=1, le=10_000, description="the same for one caller")
    flight_max_connections: int = Field(
        2_000,
        ge=4,
        le=100_000,
        description="open connections on flight_port; beyond it, those without a call are closed, then new"
        " ones",
    )
    flight_max_connections_per_peer: int = Field(
        1_600, ge=1, le=100_000, description="the same for one address (IPv6: one /64)"
    )
    flight_first_call_timeout_s: int = Field(
        60, ge=1, le=3_600, description="how long a new connection may take to the call of a known caller"
    )
    flight_stalled_timeout_s: int = Field(
        600,
        ge=1,
        le=86_400,
        description="a connection whose client neither reads the rows of its calls nor sends their values for"
        " so long is closed",
    )
    flight_max_logins: int = Field(
        10_000, ge=1, le=1_000_000, description="clients of Arrow Flight SQL that logged in with a password"
    )
    flight_max_logins_per_caller: int = Field(
        1_000, ge=1, le=1_000_000, description="the same for one caller; beyond it, the oldest one ends"
    )
    flight_max_prepared_statements: int = Field(
        10_000, ge=1, le=1_000_000, description="prepared statements of Arrow Flight SQL"
    )
    flight_max_prepared_statements_per_caller: int = Field(
        1_000, ge=1, le=1_000_000, description="the same for one caller"
    )
    flight_idle_timeout_s: int = Field(
        3_600,
        ge=1,
        le=7 * 86_400,
        description="logins, prepared statements and connections of Arrow Flight SQL that are not used for so"
        " long end",
    )
    flight_max_message_bytes: int = Field(
        4 * MIB, ge=KIB, le=GIB, description="size of a command of Arrow Flight SQL, or of its values"
    )


class FlightSettings(FlightBoundSettings, AuthenticationSettings):
    """Where Arrow Flight SQL is served."""

    flight_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="port of Arrow Flight SQL (gRPC); 0 takes any free one. Unset: it is not served",
    )
    flight_host: str | None = Field(None, min_length=1, description="its address. Unset: that of host")
    flight_allow_plaintext: bool = Field(
        False, description="serve Arrow Flight SQL beyond loopback without TLS, as behind a proxy that has it"
    )

    @model_validator(mode="after")
    def _flight_is_closed_to_strangers(self) -> Self:
        if self.flight_port is None:
            return self
        if self.tls_client_certificates is ClientCertificates.REQUIRED:
            raise ValueError(
                "flight_port cannot be set with tls_client_certificates required: Arrow Flight SQL reads none"
            )
        host = self.flight_host or self.host
        if is_loopback(host):
            return self
        if not self.has_tls and not self.flight_allow_plaintext:
            raise ValueError(
                f"Arrow Flight SQL on {host} would take passwords in plain text: set tls_certificate_file and"
                " tls_key_file, or flight_allow_plaintext"
            )
        if not self.has_authentication and not self.allow_unauthenticated:
            raise ValueError(
                f"flight_host {host} can be reached from other machines: set api_tokens, api_keys or"
                " oidc_issuers, or allow_unauthenticated to let everyone in"
            )
        return self
