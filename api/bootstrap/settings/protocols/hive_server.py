"""Settings of HiveServer2's protocol: where it is spoken, who may connect, and within which bounds."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, Field, model_validator

from api.bootstrap.settings.callers.authentication import AuthenticationSettings
from api.bootstrap.settings.serving.serving import is_loopback
from api.bootstrap.settings.value_types import KIB, MIB


class HiveAuthentication(StrEnum):
    """How connections authenticate on HiveServer2's port."""

    PLAIN = "plain"
    NONE = "none"
    NOSASL = "nosasl"


class HiveServerBounds(BaseModel):
    """The bounds of connections, messages and operations."""

    hive_max_connections: int = Field(
        500, ge=1, le=100_000, description="open connections on hive_port; beyond it, new ones are closed"
    )
    hive_max_connections_per_peer: int = Field(
        400, ge=1, le=100_000, description="the same for one address (IPv6: one /64)"
    )
    hive_handshake_timeout_s: int = Field(
        10, ge=1, le=300, description="how long a new connection may take for TLS and its name and password"
    )
    hive_idle_timeout_s: int = Field(
        3_600, ge=1, le=7 * 86_400, description="a connection without a message for so long is closed"
    )
    hive_message_timeout_s: int = Field(
        30, ge=1, le=3_600, description="how long a message may take to arrive, and an answer to be read"
    )
    hive_max_message_bytes: int = Field(
        MIB, ge=64 * KIB, le=256 * MIB, description="size of a client's message; a larger one ends it"
    )
    hive_max_unread_bytes: int = Field(
        256 * MIB,
        ge=MIB,
        le=64 * 1024 * MIB,
        description="unread answers of all connections together; beyond it, the oldest are dropped",
    )
    hive_fetch_max_rows: int = Field(
        100_000, ge=1, le=10_000_000, description="rows in the answer to one fetch at most"
    )
    hive_fetch_max_bytes: int = Field(
        16 * MIB, ge=64 * KIB, le=512 * MIB, description="the same in bytes of Arrow"
    )
    hive_kept_chunks_max_bytes: int = Field(
        64 * MIB,
        ge=0,
        le=64 * 1024 * MIB,
        description="chunks that clients have read in part, of all statements together; others are read again"
        " from the results with each fetch. 0: none is kept",
    )
    hive_max_operations: int = Field(
        10_000, ge=1, le=1_000_000, description="open statements and metadata calls of all sessions together"
    )
    hive_max_operations_per_session: int = Field(200, ge=1, le=100_000, description="those of one session")
    hive_operation_idle_s: int = Field(
        600,
        ge=10,
        le=86_400,
        description="a statement that its client does not ask about for so long is canceled and forgotten",
    )


class HiveServerSettings(HiveServerBounds, AuthenticationSettings):
    """Where HiveServer2's protocol is spoken, and who may connect."""

    hive_port: int | None = Field(
        None, ge=0, le=65535, description="port for HiveServer2's protocol, 10000 by custom. Unset: none"
    )
    hive_host: str | None = Field(None, min_length=1, description="address of hive_port. Unset: that of host")
    hive_http: bool = Field(False, description="serve HiveServer2's protocol over HTTP, at /cliservice")
    hive_authentication: HiveAuthentication = Field(
        HiveAuthentication.PLAIN,
        description="on hive_port: plain: SASL with a name, and an API key or token as password; none: SASL"
        " with any password, on loopback only; nosasl: no SASL, the password comes with each session",
    )
    hive_short_show_tables: bool = Field(
        True,
        description="SHOW TABLES has the name of the table alone in sessions that were opened without any"
        " configuration by version 6 of the protocol: SQLAlchemy's dialect reads the first column",
    )

    @property
    def speaks_hive(self) -> bool:
        """Whether HiveServer2's protocol is spoken at all."""
        return self.hive_port is not None or self.hive_http

    @model_validator(mode="after")
    def _hive_is_closed_to_strangers(self) -> Self:
        if self.has_authentication:
            if self.hive_authentication is HiveAuthentication.NONE:
                raise ValueError(
                    "hive_authentication none lets everyone in, but callers have to authenticate: set plain"
                )
            return self
        hosts = [self.hive_host or self.host] if self.hive_port is not None else []
        hosts += [self.host] if self.hive_http else []
        for host in hosts:
            if not is_loopback(host):
                raise ValueError(
                    f"HiveServer2's protocol on {host} can be reached from other machines: set api_tokens,"
                    " api_keys, oidc_issuers or tls_client_certificates"
                )
        return self

    @model_validator(mode="after")
    def _hive_bounds_fit(self) -> Self:
        if self.hive_fetch_max_bytes * 2 > self.hive_max_unread_bytes:
            raise ValueError("hive_fetch_max_bytes is larger than half of hive_max_unread_bytes")
        return self
