"""The page of cases says what the gateway does. `make check` finds the tests that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service.ingest.schema_changes.compare_schemas import compare_schemas
from service.model.tables.schemas import Field, Primitive

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "contributing" / "dynamic-sink-cases.md"


def _promotions() -> list[tuple[tuple[str, str], str]]:
    """Returns the rows of type promotions as pairs of sent type and table type, with each row's text."""
    types = {"Int": "int", "Integer": "int", "Long": "long", "Float": "float", "Double": "double"}
    types |= {"Date": "date", "Timestamp": "timestamp"}
    one = "|".join(types)
    return [
        ((types[sent], types[own]), row)
        for row in PAGE.read_text(encoding="utf-8").splitlines()
        if row.startswith("| test")
        for sent, own in re.findall(rf"({one})To({one})(?![a-z])", row.split("|")[1])
    ]


@pytest.mark.parametrize(("case", "row"), _promotions(), ids=str)
def test_what_is_converted_is_not_said_to_be_refused(case: tuple[str, str], row: str) -> None:
    given, own = ((Field(1, "c", Primitive(type_name)),) for type_name in case)
    is_refused = compare_schemas(given, own).differences != ()
    assert is_refused is ("| refused" in row)
