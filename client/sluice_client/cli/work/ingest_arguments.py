"""The arguments of `sluice ingest`, and the request that they describe."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar
from uuid import UUID, uuid4

from sluice_client.cli.exits import WrongUsage
from sluice_client.ingest.file_types import Compression, FileFormat
from sluice_client.ingest.ingest_request import IngestRequest, Mode, OnError, Wait, WriteSchema

T = TypeVar("T")
_MODES: Mapping[str, Mode] = {"append": "append", "upsert": "upsert", "delete": "delete"}
_ENVELOPES: Mapping[str, Literal["debezium"]] = {"debezium": "debezium"}
_WAITS: Mapping[str, Wait] = {"committed": "COMMITTED", "accepted": "ACCEPTED"}
_ON_ERROR: Mapping[str, OnError] = {"reject": "REJECT_REQUEST", "dead-letter": "DEAD_LETTER"}
_FORMATS: Mapping[str, FileFormat] = {
    "ndjson": "ndjson",
    "jsonl": "ndjson",
    "csv": "csv",
    "arrow": "arrow",
    "parquet": "parquet",
}
_COMPRESSIONS: Mapping[str, Compression] = {"gzip": "gzip", "zstd": "zstd"}
_MAX_SCHEMA_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestArguments:
    """The arguments, as they were typed."""

    table: str
    files: Sequence[Path]
    format: str | None
    compression: str | None
    write_schema: str | None
    mode: str | None
    equality_fields: str | None
    delete_when: str | None
    envelope: str | None
    order_by: str | None
    rest: str | None
    branch: str | None
    schema: Path | None
    is_creating: bool
    is_evolving: bool
    on_error: str | None
    wait: str
    request_id: UUID | None
    is_json: bool
    is_quiet: bool

    def file_format(self) -> FileFormat | None:
        """Returns the format that was given.

        Raises:
            WrongUsage: there is no such name.
        """
        return _one_of(_FORMATS, self.format, "--format")

    def file_compression(self) -> Compression | None:
        """Returns the compression that was given.

        Raises:
            WrongUsage: there is no such name.
        """
        return _one_of(_COMPRESSIONS, self.compression, "--compression")

    def request(self) -> IngestRequest:
        """Returns the request for one file.

        Raises:
            WrongUsage: an argument is not valid, or does not fit the others.
        """
        if (self.is_creating or self.is_evolving) and self.schema is None:
            raise WrongUsage("--create and --evolve need --schema FILE")
        if self.request_id is not None and len(self.files) > 1:
            raise WrongUsage("--request-id is for one file")
        return IngestRequest(
            table=self.table,
            write_schema=_write_schema(self.write_schema),
            branch=self.branch,
            mode=_one_of(_MODES, self.mode, "--mode"),
            equality_fields=_names(self.equality_fields),
            delete_when=None if self.delete_when is None else _delete_when(self.delete_when),
            envelope=_one_of(_ENVELOPES, self.envelope, "--envelope"),
            order_by=self.order_by,
            rest=self.rest,
            schema=None if self.schema is None else _schema_of(self.schema),
            evolve=True if self.is_evolving else None,
            create={} if self.is_creating else None,
            wait=_one_of(_WAITS, self.wait, "--wait") or "COMMITTED",
            on_error=_one_of(_ON_ERROR, self.on_error, "--on-error"),
            request_id=self.request_id or uuid4(),
        )


def _one_of(known: Mapping[str, T], text: str | None, option: str) -> T | None:
    if text is None:
        return None
    try:
        return known[text.lower()]
    except KeyError:
        raise WrongUsage(f"{option} is one of {', '.join(known)}, not {text!r}") from None


def _write_schema(text: str | None) -> WriteSchema | None:
    if text is None or text.strip() == "infer":
        return None if text is None else "infer"
    if not text.lstrip().startswith(("{", "[")):
        return _names(text)
    try:
        found: WriteSchema = json.loads(text)
    except (ValueError, RecursionError):
        raise WrongUsage("--write-schema is not valid JSON") from None
    return found


def _delete_when(text: str) -> Mapping[str, Any]:
    field, equals, values = text.partition("=")
    if not (field and equals and values):
        raise WrongUsage("--delete-when is FIELD=VALUE, with commas between several values")
    return {"field": field, "values": values.split(",")}


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def _schema_of(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_MAX_SCHEMA_BYTES))
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise WrongUsage(f"{path}: it is not valid JSON") from None
    if not isinstance(found, dict):
        raise WrongUsage(f"{path}: a schema is a JSON object")
    return found
