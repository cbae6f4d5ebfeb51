"""Gzip and Zstandard in all forms that their tools write and read, and in some invalid ones."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.streams.decompressed import decompressed
from service.model.ingest.record_formats import Compression

LINES = b'{"a": 1}\n' * 3
# The time is fixed, as the workers of a test run must collect the same tests.
MEMBER = gzip.compress(LINES, mtime=0)
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
def test_what_is_wrong_is_reported(data: bytes, reason: str) -> None:
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


@given(
    st.lists(st.binary(max_size=2_000), min_size=1, max_size=4),
    st.sampled_from(
        [b"\0", b"\0" * 8, b"\0" * 100_000, b"\n", b"garbage", MEMBER, LINES, b"\x28\xb5\x2f\xfe"]
    ),
)
def test_what_follows_the_last_frame_of_zstd_is_reported(contents: list[bytes], behind: bytes) -> None:
    data = b"".join(pa.compress(content, "zstd", asbytes=True) for content in contents)
    assert read(data, Compression.ZSTD) == b"".join(contents)
    # Fewer than four bytes may be the start of a frame.
    reason = "behind its last frame" if len(behind) >= 4 else "Truncated|behind its last frame"
    with pytest.raises(IngestInvalid, match=f"cannot be read as zstd: ({reason})"):
        read(data + behind, Compression.ZSTD)


@pytest.mark.parametrize("data", [FRAME[:-3], FRAME[:2], FRAME + FRAME[:7], SKIPPABLE[:-1]])
def test_a_frame_of_zstd_that_ends_too_early_is_reported(data: bytes) -> None:
    with pytest.raises(IngestInvalid, match="cannot be read as zstd: Truncated"):
        read(data, Compression.ZSTD)


@pytest.mark.parametrize(
    "data", [b"{}", LINES, MEMBER, bz2.compress(LINES), lzma.compress(LINES), b"\0" * 100]
)
def test_what_is_no_frame_of_zstd_is_reported(data: bytes) -> None:
    with pytest.raises(IngestInvalid, match="cannot be read as zstd: its content is not compressed so"):
        read(data, Compression.ZSTD)
