"""Where traces go, and how many."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, field_validator

from api.bootstrap.spelling import Spelled

CollectorAddress = Annotated[
    str,
    Spelled(
        r"^https?://[^\s/?#@]+(/[^\s?#]*)?$",
        "it is not an http:// or https:// address of a collector; credentials go into traces_headers",
    ),
]


_HEADER = re.compile(
    r"\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*([\x21-\x2b\x2d-\x7e]([\x20-\x2b\x2d-\x7e]*[\x21-\x2b\x2d-\x7e])?)\s*"
)


def headers_of(text: str) -> dict[str, str]:
    """The headers by their names.

    >>> headers_of("authorization=Bearer abc=, x-tenant=1")
    {'authorization': 'Bearer abc=', 'x-tenant': '1'}

    Raises:
        ValueError: it is not a list of headers; the message does not show it.
    """
    found = [_HEADER.fullmatch(header) for header in text.split(",")]
    if not all(found):
        raise ValueError("it is not like name=value,name=value, with visible characters and no other comma")
    return {pair[1]: pair[2] for pair in found if pair is not None}


class TraceSettings(BaseModel):
    """Where traces go, and how many."""

    traces_endpoint: CollectorAddress | None = Field(
        None, description="OTLP/HTTP address of a collector; without a path: /v1/traces. Unset: no traces"
    )
    traces_headers: SecretStr | None = Field(
        None, description="headers that the collector asks for: name=value,name=value"
    )
    traces_sample_ratio: float = Field(
        1.0,
        ge=0,
        le=1,
        description="share of the traces begun here that is recorded; a `traceparent` decides for its own",
    )
    traces_sql: bool = Field(
        False, description="spans contain the text of queries and statements, which may hold private values"
    )
    traces_queue_spans: int = Field(
        8_192, ge=512, le=1_000_000, description="spans that wait for the collector; the oldest are dropped"
    )
    traces_export_timeout_s: float = Field(
        10.0,
        ge=0.1,
        le=60,
        description="how long the collector may take for a batch of spans before it is dropped",
    )
    traces_stop_timeout_s: float = Field(
        2.0, ge=0, le=5, description="how long a stop waits for the last spans to be sent"
    )

    @field_validator("traces_headers")
    @classmethod
    def _are_headers(cls, given: SecretStr | None) -> SecretStr | None:
        if given is not None:
            headers_of(given.get_secret_value())
        return given
