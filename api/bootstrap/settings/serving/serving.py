"""Where the gateway listens, whom it serves within which bounds, and how it logs and stops."""

from __future__ import annotations

import ipaddress
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field, model_validator

from api.bootstrap.settings.value_types import GIB, KIB, MIB, CallerName, Name, Sha256Hex


class LogLevel(StrEnum):
    """The lowest level of the lines that are written."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class LogFormat(StrEnum):
    """One JSON object a line, or lines for people."""

    JSON = "json"
    CONSOLE = "console"


class ServingSettings(BaseModel):
    """Where the gateway listens, whom it serves within which bounds, and how it logs and stops."""

    host: str = Field("127.0.0.1", description="address to listen on", min_length=1)
    port: int = Field(8080, ge=0, le=65535, description="port to listen on; 0 takes any free one")
    data_dir: Path = Field(Path(".sluice"), description="where the embedded parts keep their data")
    log_level: LogLevel = Field(LogLevel.INFO, description="lowest level of the lines that are written")
    log_format: LogFormat = Field(LogFormat.JSON, description="json, or console for people")
    api_tokens: dict[Name, Sha256Hex] = Field(
        {}, repr=False, description="caller to SHA-256 (hex) of the bearer token"
    )
    caller_classes: dict[CallerName, Name] = Field(
        {},
        max_length=1000,
        description="caller, or the beginning of callers' names and `*`, to the class of their queries in"
        " metrics, 20 classes at most; all others are `authenticated` or `anonymous`",
    )
    allow_unauthenticated: bool = Field(
        False,
        description="without authentication: listen beyond loopback, and answer to any name in `Host`",
    )
    max_body_bytes: int = Field(4 * MIB, ge=KIB, le=256 * MIB, description="size of a request's body")
    max_held_body_bytes: int = Field(
        128 * MIB,
        ge=KIB,
        le=64 * GIB,
        description="bodies held in memory together, before a 429; a caller with a token may take half",
    )
    body_idle_timeout_s: int = Field(
        30, ge=1, le=3600, description="how long a request's body may pause before a 408"
    )
    body_min_bytes_per_s: int = Field(
        16 * KIB, ge=0, le=GIB, description="minimum bytes per second of a body, beyond that; 0: no minimum"
    )
    max_connections: int = Field(
        2_000,
        ge=16,
        le=1_000_000,
        description="open connections; beyond it, those that wait for their client are closed, then 503",
    )
    max_connections_per_peer: int = Field(
        1_600,
        ge=1,
        le=1_000_000,
        description="the same for one address (IPv6: one /64); a proxy counts as one address",
    )
    max_header_bytes: int = Field(
        32 * KIB, ge=KIB, le=16 * MIB, description="headers of a request together before a 431"
    )
    max_header_lines: int = Field(100, ge=8, le=10_000, description="header lines before a 431")
    max_url_bytes: int = Field(
        64 * KIB,
        ge=KIB,
        le=16 * MIB,
        description="URL with its query string before a 414; POST /ingest may carry a schema there",
    )
    max_pipelined_requests: int = Field(
        16,
        ge=0,
        le=1_000,
        description="requests that wait behind another one on their connection; beyond it, it is closed",
    )
    header_timeout_s: int = Field(
        10, ge=1, le=3600, description="how long a request's headers may take before a 408"
    )
    keep_alive_timeout_s: int = Field(
        5, ge=1, le=3600, description="how long a connection stays open without a request"
    )
    unread_answer_timeout_s: int = Field(
        30,
        ge=1,
        le=3600,
        description="how long a client may read its answer slower than body_min_bytes_per_s",
    )
    max_unread_answer_bytes: int = Field(
        256 * MIB,
        ge=MIB,
        le=64 * GIB,
        description="unread answers of all clients together; beyond it, the oldest are dropped",
    )
    request_max_wait_s: int = Field(
        30,
        ge=1,
        le=3600,
        description="how long a request waits for one of the gateway's threads before a 503",
    )
    stores_max_wait_s: int = Field(
        60,
        ge=0,
        le=3600,
        description="how long a start waits for metrics_store_url, its schema and filter_cache_url to answer",
    )
    listen_when_ready: bool = Field(
        False,
        description="refuse connections until a query can be answered: for proxies that do not ask /readyz",
    )
    shutdown_delay_s: int = Field(
        5,
        ge=0,
        le=600,
        description="how long all are served after SIGTERM while /readyz answers 503; SIGINT skips this",
    )
    shutdown_timeout_s: int = Field(
        30, ge=0, le=3600, description="how long a stop waits for queries, after that"
    )

    @model_validator(mode="after")
    def _tokens_are_of_one_caller_each(self) -> Self:
        if len(set(self.api_tokens.values())) < len(self.api_tokens):
            raise ValueError("api_tokens gives two callers the same token")
        return self


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
