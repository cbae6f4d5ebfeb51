"""Tests that docs/reference/python-client.md names everything that a caller can pass, set or catch."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import pytest

import sluice_client
from sluice_client import Bounds, RetryPolicy, SluiceError, Timeouts
from sluice_client.connecting import ConnectOptions
from sluice_client.ingest.choose_body import choose_body
from sluice_client.ingest.file_types import CONTENT_TYPES
from sluice_client.options import IngestOptions, QueryOptions
from sluice_client.session_calls import SessionOptions

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "python-client.md").read_text("utf-8")
EXPORTED = [getattr(sluice_client, name) for name in sluice_client.__all__]


def errors() -> list[str]:
    found = [kind for kind in EXPORTED if inspect.isclass(kind) and issubclass(kind, SluiceError)]
    return sorted(kind.__name__ for kind in found)


@pytest.mark.parametrize("name", errors())
def test_every_error_is_named(name: str) -> None:
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("options", [ConnectOptions, QueryOptions, IngestOptions, SessionOptions])
def test_every_option_is_named(options: type) -> None:
    assert [name for name in options.__annotations__ if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize("settings", [RetryPolicy, Timeouts, Bounds])
def test_every_bound_is_named_with_its_default(settings: type) -> None:
    names = [field.name for field in fields(settings)]
    assert [
        name for name in names if f"`{name}`" not in PAGE and f"{settings.__name__}.{name}" not in PAGE
    ] == []


def test_every_suffix_and_form_of_data_is_named() -> None:
    for suffix in (".ndjson", ".jsonl", ".csv", ".parquet", ".arrows", ".gz", ".zst"):
        assert f"`{suffix}`" in PAGE
    assert len(CONTENT_TYPES) == 4
    assert "__arrow_c_stream__" in (choose_body.__doc__ or "")
    assert "`__arrow_c_stream__`" in PAGE
