"""The answer to HEAD: what the answer to GET would say before its body."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Response


def head_answer(headers: Mapping[str, str], media_type: str, byte_count: int | None = None) -> Response:
    """Returns the headers alone, without a length if it is not known.

    >>> sorted(head_answer({}, "text/csv", 7).headers), sorted(head_answer({}, "text/csv").headers)
    (['content-length', 'content-type'], ['content-type'])
    """
    length = {} if byte_count is None else {"Content-Length": str(byte_count)}
    response = Response(headers={**headers, **length}, media_type=media_type)
    if byte_count is None:
        # Made of the body, which is empty here, and not that of GET.
        del response.headers["Content-Length"]
    return response
