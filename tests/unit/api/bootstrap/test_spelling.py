"""Errors in values are reported in plain words, for every field of a request or a setting."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Annotated, Any

import httpx
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

import api.http.schemas
from api.bootstrap.settings import Settings
from api.bootstrap.settings.value_types import ParquetFolder
from api.bootstrap.spelling import Spelled, words_of
from api.http.schemas.wire import StrictModel

# Patterns, Python's own terms, and names of our classes and functions.
NOT_FOR_PEOPLE = re.compile(
    r"\^|\\[dws]|\[\^?[A-Za-z0-9]-[A-Za-z0-9]|Value error|Assertion|pattern"
    r"|\w+Body\b|\w+Model\b|_\w+\(\)|function-"
)
TEXTS = ("", "\x00", "a b!", "a\nb", "ü" * 5000, "\ud800", "0", "[", "{", "2026-13-01", "1 fortnight", ":x")
SCALARS: tuple[Any, ...] = (*TEXTS, -1, 10**30, 1.5, float("nan"), True, None, b"\xff", object())
NESTED = ([], {}, [[]], [{}], *([scalar] for scalar in SCALARS), *({text: text} for text in TEXTS))
DEEPER = ({"a": {"a": text}} for text in (*TEXTS, 1, None))
WRONG: tuple[Any, ...] = (
    *SCALARS,
    *NESTED,
    *DEEPER,
    {"type": "\x00 [", "value": []},
    {"kafka": {"topic": "!"}},
)


def models() -> Iterator[type[BaseModel]]:
    for module in pkgutil.walk_packages(api.http.schemas.__path__, "api.http.schemas."):
        importlib.import_module(module.name)
    waiting: list[type[BaseModel]] = [StrictModel, Settings, ParquetFolder]
    while waiting:
        model = waiting.pop()
        waiting.extend(model.__subclasses__())
        yield model


def findings(kind: Any, value: object) -> list[Any]:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        return list(error.errors(include_url=False))
    return []


@pytest.mark.parametrize("model", [*models()])
def test_no_message_is_a_pattern_or_a_word_of_the_program(model: type[BaseModel]) -> None:
    everywhere = [dict.fromkeys(_names(model), value) for value in WRONG]
    reported = {words_of(finding) for value in (*WRONG, *everywhere) for finding in findings(model, value)}
    assert [message for message in reported if NOT_FOR_PEOPLE.search(message) or not message] == []


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def test_a_text_of_another_form_is_reported_in_words_and_its_pattern_is_described() -> None:
    kind = Annotated[str, Spelled(r"^[a-z]+$", "it has {other} letters")]
    [found] = findings(kind, "a\n")
    assert words_of(found) == "it has {other} letters"
    assert TypeAdapter(kind).json_schema() == {"type": "string", "pattern": r"^[a-z]+$"}


@pytest.mark.anyio
async def test_what_is_no_fingerprint_is_reported_in_words(client: httpx.AsyncClient) -> None:
    refused = (await client.delete("/filters/a.b")).json()
    assert refused["errors"] == [
        {
            "detail": "it is not a fingerprint: GET /filters lists the existing ones",
            "pointer": "/path/fingerprint",
        }
    ]
