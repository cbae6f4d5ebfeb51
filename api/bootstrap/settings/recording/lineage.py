"""Where OpenLineage events go, and what they contain."""

from __future__ import annotations

import re
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from api.bootstrap.spelling import Spelled

_SERVER = re.compile(r"[A-Za-z0-9_.-]+:\d{1,5}|\[[0-9A-Fa-f:.]+\]:\d{1,5}")
_HOST = re.compile(r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?")
_TOPIC = re.compile(r"/[A-Za-z0-9._-]{1,249}")

Namespace = Annotated[
    str,
    Spelled(
        r"^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$",
        "a namespace has letters, digits and . _ : / -, begins with one of these two, and has 128 at most",
    ),
]


class LineageSettings(BaseModel):
    """Where OpenLineage events go, and what they contain."""

    lineage_url: str | None = Field(
        None,
        max_length=4096,
        description="where OpenLineage events go: file:///path, http(s)://…, or kafka://host:port,…/topic;"
        " unset: nowhere",
    )
    lineage_api_key: SecretStr | None = Field(
        None, description="bearer token that is sent to an http(s) lineage_url"
    )
    lineage_kafka_options: dict[str, str] = Field(
        {}, repr=False, description="further options of librdkafka's producer, such as security.protocol"
    )
    lineage_namespace: Namespace = Field(
        "sluice",
        description="namespace of the jobs of this gateway, and of tables whose catalog has no address",
    )
    lineage_sql_enabled: bool = Field(
        False, description="send the texts of queries, which may contain callers' values"
    )
    lineage_queue_events: int = Field(
        10_000, ge=1, le=1_000_000, description="runs that wait to be sent; beyond it, they are dropped"
    )
    lineage_timeout_s: float = Field(
        5.0, ge=0.1, le=300, description="how long the gateway tries to send an event before it drops it"
    )

    @field_validator("lineage_url")
    @classmethod
    def _leads_somewhere(cls, url: str | None) -> str | None:
        if url is None:
            return None
        components = urlsplit(url)
        if not url.isprintable() or " " in url:
            raise ValueError("it has characters that an address cannot have")
        if "@" in components.netloc:
            raise ValueError("it contains a user: use lineage_api_key, or lineage_kafka_options")
        if not _is_complete(components.scheme, components.netloc, components.path):
            raise ValueError("write file:///path, http(s)://host/path, or kafka://host:port,host:port/topic")
        return url

    @model_validator(mode="after")
    def _keys_stay_secret(self) -> Self:
        if self.lineage_api_key is not None and not (self.lineage_url or "").startswith("http"):
            raise ValueError("lineage_api_key is for an http(s) lineage_url")
        return self


def _is_complete(scheme: str, authority: str, path: str) -> bool:
    match scheme:
        case "file":
            return not authority and len(path) > 1 and not path.endswith("/")
        case "http" | "https":
            return _HOST.fullmatch(authority) is not None
        case "kafka":
            servers = all(_SERVER.fullmatch(server) for server in authority.split(","))
            return servers and _TOPIC.fullmatch(path) is not None
        case _:
            return False
