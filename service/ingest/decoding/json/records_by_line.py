"""Takes the records of a JSON body as lines, where each stands on a line of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from service.ingest.decoding.json.ndjson import is_plain
from service.model.ingest.json_records import JsonRecords, Records


def json_records(sent: Sequence[bytes | memoryview], parse: Callable[[], Records]) -> JsonRecords | None:
    r"""Returns the records of these spellings; None where one is not an object, or spans several lines.

    `parse` returns their values, if they are needed.

    >>> found = json_records([b'{"a": 1}', b'{"a": 2}'], lambda: [{"a": 1}, {"a": 2}])
    >>> found.lines
    b'{"a": 1}\n{"a": 2}'
    >>> [json_records(sent, list) for sent in ([], [b"1"], [b'{"a":\n1}'])]
    [None, None, None]
    """
    lines = b"\n".join(sent)
    count = len(sent)
    if lines.count(b"\n") != count - 1 or not is_plain(lines, count):
        return None
    return JsonRecords(lines, count, parse)
