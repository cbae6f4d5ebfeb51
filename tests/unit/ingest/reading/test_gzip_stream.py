"""Gzip in all forms that its tools write and read, and in some that they do not."""

from __future__ import annotations

import gzip
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import IngestInvalid
from service.ingest.reading.decompressed import decompressed
from service.model.record_formats import Compression

LINES = b'{"a": 1}\n' * 3
MEMBER = gzip.compress(LINES)
MAX_BYTES = 10**7
FRAME = pa.compress(LINES, "zstd", asbytes=True)
SKIPPABLE = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"abcd"


def read(data: bytes, compression: Compression = Compression.GZIP) -> bytes:
    return decompressed(io.BytesIO(data), compression, MAX_BYTES).read()


@given(
    st.lists(st.binary(max_size=2_000), max_size=4),
    st.integers(0, 3),
    st.integers(0, 1_200),
    st.integers(1, 3_000),
)
def test_members_are_one_stream_whatever_zeros_follow(
    contents: list[bytes], between: int, behind: int, at_once: int
) -> None:
    data = (b"\0" * between).join(map(gzip.compress, contents)) + b"\0" * (behind if contents else 0)
    stream = decompressed(io.BytesIO(data), Compression.GZIP, MAX_BYTES)
    found = b""
    while part := stream.read(at_once):
        found += part
    assert found == b"".join(contents)


def test_a_large_member_is_read_in_parts() -> None:
    content = bytes(range(256)) * 20_000
    assert read(gzip.compress(content) + b"\0" * 600_000 + gzip.compress(b"end")) == content + b"end"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (MEMBER + b"garbage", "something else than gzip or zeros"),
        (MEMBER + b"\0\0garbage", "something else than gzip or zeros"),
        (MEMBER + b"\x1f", "something else than gzip or zeros"),
        (MEMBER[:-4], "Truncated"),
        (MEMBER[:5], "Truncated"),
        (MEMBER + MEMBER[:10], "Truncated"),
        (MEMBER[:-8] + b"\0" * 8, "damaged"),
        (b"\0" * 100, "not compressed so"),
        (b"{}", "not compressed so"),
    ],
)
def test_what_is_wrong_is_told(data: bytes, reason: str) -> None:
    with pytest.raises(IngestInvalid, match=reason):
        read(data)


def test_no_more_is_unfolded_than_is_allowed() -> None:
    stream = decompressed(io.BytesIO(gzip.compress(b"\0" * 10**6)), Compression.GZIP, 1_000)
    with pytest.raises(IngestInvalid):
        stream.read()


@pytest.mark.parametrize(
    "data", [FRAME + FRAME, FRAME + SKIPPABLE + FRAME, SKIPPABLE + FRAME + FRAME + SKIPPABLE]
)
def test_frames_of_zstd_are_one_stream_whatever_is_skipped(data: bytes) -> None:
    assert read(data, Compression.ZSTD) == LINES + LINES


@pytest.mark.parametrize("data", [FRAME + b"garbage", FRAME + b"\0" * 8, FRAME[:-3], b"{}"])
def test_what_is_no_frame_is_told(data: bytes) -> None:
    with pytest.raises(IngestInvalid, match="cannot be read as zstd"):
        read(data, Compression.ZSTD)
