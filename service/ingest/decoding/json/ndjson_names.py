"""Finds the fields that lines of JSON have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import BinaryIO

import msgspec

from service.ingest.decoding.json.json_lines import NoJson, parsed
from service.ingest.decoding.streams.line_blocks import line_blocks
from service.ingest.decoding.streams.note_names import note_names
from service.ingest.decoding.values.exact_json import exact_json
from service.model.ingest.ingest_request import Route


def ndjson_names(
    stream: BinaryIO, route: Route | None, known: Sequence[Set[str]], max_line_bytes: int
) -> list[set[str]]:
    """Returns each target's names, as `note_names` collects them, that at least one of its records has.

    Lines that are not JSON are ignored.

    Raises:
        IngestInvalid: a line is too long.
    """
    found: list[set[str]] = [set() for _ in known]
    for fields, target in _fields(stream, route, max_line_bytes):
        if target is not None and not fields.keys() <= found[target]:
            note_names(found[target], fields.keys(), known[target])
    return found


def _fields(
    stream: BinaryIO, route: Route | None, max_line_bytes: int
) -> Iterator[tuple[Mapping[str, object], int | None]]:
    decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
    for block in line_blocks(stream, max_line_bytes):
        for line in block.split(b"\n"):
            try:
                fields: Mapping[str, object] = decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                fields = _slowly(line.strip(b" \t\r"))
            yield fields, 0 if route is None else route.target(_value(fields.get(route.field)))


def _slowly(line: bytes) -> Mapping[str, object]:
    # Only `parsed` decides what is valid in a line.
    try:
        record = parsed(line)
    except NoJson:
        return {}
    return record if isinstance(record, dict) else {}


def _value(value: object) -> object:
    try:
        return exact_json(bytes(value).decode()) if isinstance(value, msgspec.Raw) else value
    except (ValueError, RecursionError):
        # The record is reported as bad when its rows are read.
        return None
