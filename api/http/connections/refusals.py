"""Builds answers to input that never becomes a request, as bytes."""

from __future__ import annotations

from http import HTTPStatus
from uuid import uuid4

from api.http.middleware.request_log import HEADER
from api.http.problems.problems import problem_response
from service.errors.gateway_error import GatewayError

_INSTANCE = "/"
"""The path is not known, or cannot be trusted."""


def refusal_bytes(error: GatewayError) -> bytes:
    """Returns the whole answer, which closes the connection.

    >>> from api.http.problems.http_errors import UrlTooLong
    >>> refusal_bytes(UrlTooLong()).splitlines()[0]
    b'HTTP/1.1 414 URI Too Long'
    """
    response = problem_response(error, _INSTANCE)
    response.headers["Connection"] = "close"
    response.headers[HEADER] = uuid4().hex
    status = HTTPStatus(response.status_code)
    lines = [f"HTTP/1.1 {status.value} {_PHRASES.get(status, status.phrase)}".encode()]
    lines += [name + b": " + value for name, value in response.raw_headers]
    return b"\r\n".join([*lines, b"", bytes(response.body)])


_PHRASES = {HTTPStatus.REQUEST_URI_TOO_LONG: "URI Too Long"}
"""RFC 9110's phrase, where the running Python has an older one."""
