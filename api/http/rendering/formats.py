"""One chunk of rows, in each of the formats that callers may ask for."""

from __future__ import annotations

import re
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any, assert_never

import orjson
import pyarrow as pa

from api.http.rendering.json_values import json_values, named_values
from service.model.query.results import ResultFormat

MEDIA_TYPES = {
    ResultFormat.JSON: "application/json",
    ResultFormat.CSV: "text/csv",
    ResultFormat.ARROW_STREAM: "application/vnd.apache.arrow.stream",
}

_LARGE_BYTES = 256 * 1024
_turn = threading.Lock()
_NEEDS_QUOTES = re.compile(r'[",\r\n]|^$|^\s|\s$')


def render(rows: pa.Table, format: ResultFormat, is_first: bool = True) -> bytes:  # noqa: A002
    """Returns the rows in this format. JSON is an array of arrays. Only the first chunk of CSV has a header.

    Large tables are rendered one at a time. Each takes several times its size in memory, and blocks the event
    loop and all other threads while it holds the interpreter.
    """
    with turn_of(rows):
        match format:
            case ResultFormat.JSON:
                return render_json(rows)
            case ResultFormat.CSV:
                return render_csv(rows, has_header=is_first)
            case ResultFormat.ARROW_STREAM:
                return render_arrow(rows)
            case _:
                assert_never(format)


def turn_of(rows: pa.Table) -> AbstractContextManager[object]:
    """Returns the turn of a large table, for which others wait; small tables need none."""
    return _turn if rows.nbytes > _LARGE_BYTES else nullcontext()


def render_json(rows: pa.Table) -> bytes:
    """Returns the rows as a JSON array of arrays, in the order of the columns."""
    return orjson.dumps(_rows(rows), default=str)


def render_csv(rows: pa.Table, has_header: bool = True) -> bytes:
    """Returns the rows as RFC 4180. NULL is an empty field; an empty string is a quoted one."""
    lines = [",".join(_field(name) for name in rows.column_names)] if has_header else []
    lines += [",".join(map(_field, row)) for row in _rows(rows)]
    return "".join(f"{line}\r\n" for line in lines).encode(errors="replace")


def render_arrow(rows: pa.Table) -> bytes:
    """Returns the rows as a complete Arrow IPC stream, with its schema."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def render_json_lines(rows: pa.Table) -> bytes:
    r"""Returns one JSON object a row. The values are those of the JSON format.

    If two columns have one name, each row is an array of {"name", "value"}, as an object would lose a value.

    >>> render_json_lines(pa.table({"k": [1, None], "name": ["a", "é"]})).decode()
    '{"k":1,"name":"a"}\n{"k":null,"name":"é"}\n'
    """
    names = rows.column_names
    row_object = _object if len(set(names)) == len(names) else named_values
    return b"".join(
        orjson.dumps(row_object(names, row), default=str, option=orjson.OPT_APPEND_NEWLINE)
        for row in _rows(rows)
    )


def _object(names: list[str], values: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))


def _rows(rows: pa.Table) -> list[Any]:
    # By position: a result may have two columns of the same name, or none at all.
    if rows.num_columns == 0:
        return [()] * rows.num_rows
    columns = (
        [value for chunk in rows.column(index).chunks for value in json_values(chunk)]
        for index in range(rows.num_columns)
    )
    return list(zip(*columns, strict=True))


def _field(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return '"' + value.replace('"', '""') + '"' if _NEEDS_QUOTES.search(value) else value
        case list() | dict() | tuple():
            return '"' + orjson.dumps(value, default=str).decode().replace('"', '""') + '"'
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)
