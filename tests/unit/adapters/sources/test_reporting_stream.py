"""Errors of a source's storage, reported as the gateway's own."""

from __future__ import annotations

import io

import pytest

from service.adapters.sources.reporting_stream import ReportingStream
from service.errors.source_errors import SourceChanged, SourceDenied
from service.errors.unavailable import StorageDown

URI = "s3://bucket/in/a.json"


class Failing(io.BytesIO):
    """A file whose storage answers every read with the same error."""

    def __init__(self, error: OSError) -> None:
        super().__init__(b"abc")
        self._error = error

    def readinto(self, buffer: object) -> int:  # noqa: ARG002
        raise self._error


@pytest.mark.parametrize(
    ("error", "reported"),
    [
        (FileNotFoundError("gone"), SourceChanged),
        (PermissionError("no"), SourceDenied),
        (OSError("AWS Error ACCESS_DENIED during GetObject operation: host-7 says no"), SourceDenied),
        (OSError("AWS Error UNKNOWN (HTTP status 403) during HeadObject operation"), SourceDenied),
        (OSError("AWS Error SLOW_DOWN during GetObject operation: host-7"), StorageDown),
        (OSError("AWS Error UNKNOWN (HTTP status 4031) during GetObject operation"), StorageDown),
    ],
)
def test_an_error_says_which_source_it_was_and_not_what_its_storage_said(
    error: OSError, reported: type[Exception]
) -> None:
    stream = io.BufferedReader(ReportingStream(Failing(error), URI))
    with pytest.raises(reported, match=r"s3://bucket/in/a\.json") as raised:
        stream.read()
    assert "host-7" not in str(raised.value)
    assert raised.value.__cause__ is error


def test_bytes_are_read_from_wherever_they_are_sought() -> None:
    stream = io.BufferedReader(ReportingStream(io.BytesIO(b"abcdef"), URI))
    assert (stream.seek(2), stream.read(2), stream.tell(), stream.seek(0, io.SEEK_END)) == (2, b"cd", 4, 6)
