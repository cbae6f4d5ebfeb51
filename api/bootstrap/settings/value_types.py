"""The types of settings' values."""

from __future__ import annotations

import re
from typing import Annotated, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_settings import NoDecode

from api.bootstrap.spelling import Spelled

KIB, MIB, GIB = 1024, 1024**2, 1024**3

Name = Annotated[
    str,
    Spelled(
        r"^[A-Za-z_][A-Za-z0-9_-]{0,62}$",
        "a name has letters, digits, _ and -, begins with a letter or _, and has 63 characters at most",
    ),
]

CallerName = Annotated[
    str,
    Spelled(
        r"^[\x21-\x7e]{1,255}$", "a caller's name has printable ASCII characters without spaces, 255 at most"
    ),
]


def _sha256(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"[0-9a-fA-F]{64}", value):
        return value.lower()
    # The message omits the value, since an operator may enter the token instead of its hash.
    raise ValueError(
        "not the SHA-256 of a token, which has 64 hexadecimal digits: make it by  printf %s TOKEN | sha256sum"
    )


Sha256Hex = Annotated[str, BeforeValidator(_sha256)]


TableOfSchema = Annotated[
    str,
    Spelled(
        r"^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$",
        "it is not like schema.table, such as logs.events: letters, digits and _, with one dot between"
        " the two names",
    ),
]
ColumnType = Annotated[
    str,
    StringConstraints(to_upper=True),
    # No DECIMAL: Spark misreads decimals in the names of folders.
    Spelled(
        r"^(?i:STRING|BOOLEAN|TINYINT|SMALLINT|INT|BIGINT|DATE|TIMESTAMP)$",
        "it is not one of STRING, BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, DATE and TIMESTAMP",
    ),
]


class ParquetFolder(BaseModel):
    """A folder of Parquet files, and the types of the columns that name its subfolders."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    location: str = Field(min_length=1, max_length=4096)
    partition_columns: dict[Name, ColumnType] = {}


def _list(text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        message = 'it begins like a JSON list, but is not one: write it like ["a", "b"], or like a,b'
        raise ValueError(message) from None


def _words(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return _list(value)
    return [word.strip() for word in value.split(",") if word.strip()]


Member = TypeVar("Member")

Listed = Annotated[tuple[Member, ...], NoDecode, BeforeValidator(_words)]
"""A list; in the environment as JSON or separated by commas."""

Words = Listed[str]
