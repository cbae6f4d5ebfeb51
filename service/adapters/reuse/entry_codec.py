"""Encodes the description of a kept result as one value of JSON, for all replicas of one version."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from service.model.query.reuse import ReusableResult

VERSION = 1


@dataclass(frozen=True, slots=True)
class _Stored:
    version: int
    key: str
    result: ReusableResult


_decoder = msgspec.json.Decoder(_Stored)


def encode(key: str, result: ReusableResult) -> bytes:
    """Returns the value. It has no chunks: whoever shares the rows reads these from the result store."""
    manifest = replace(result.manifest, chunks=())
    return msgspec.json.encode(_Stored(VERSION, key, replace(result, manifest=manifest)))


def decode(key: str, value: bytes) -> ReusableResult | None:
    """Returns the result that was stored under this key; None if the value is something else.

    >>> decode("a", b"[]"), decode("a", b"")
    (None, None)
    """
    try:
        stored = _decoder.decode(value)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    is_asked_for = (stored.version, stored.key) == (VERSION, key)
    return stored.result if is_asked_for and stored.result.taken_at.tzinfo is not None else None
