"""Splits of files: each line is in exactly one, and a file that has changed is not read."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.adapters.sources.find import FoundSources
from service.adapters.sources.lines_of_range import LinesOfRange
from service.adapters.sources.open import opened_split
from service.adapters.sources.storage import SourceAccess
from service.errors.source_errors import SourceChanged, SourceNotAllowed
from service.model.ingest.sources import SourceBounds, SourceFile, SourceSplit, source_splits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").write_bytes(b"one\ntwo\nthree\n")
    return tmp_path


def access(folder: Path) -> SourceAccess:
    return SourceAccess((folder.as_uri(),))


def listed(folder: Path) -> SourceFile:
    [found] = FoundSources(access(folder), SourceBounds()).files((folder / "a").as_uri())
    return found


def read(folder: Path, split: SourceSplit) -> bytes:
    with opened_split(split, access(folder)) as stream:
        return stream.read()


@given(st.lists(st.sampled_from([b"", b"a", b"bb", b"c" * 9]), max_size=9), st.integers(1, 30), st.booleans())
def test_each_line_is_in_one_split_whatever_their_size(lines: list[bytes], size: int, is_ended: bool) -> None:
    text = b"\n".join(lines) + (b"\n" if is_ended else b"")
    splits = source_splits([SourceFile("a", len(text), 0)], size, is_splittable=True)
    parts = [
        LinesOfRange(io.BytesIO(text), split.start, len(text) if split.end is None else split.end).read()
        for split in splits
    ]
    assert b"".join(parts) == text
    found = [part for part in parts if part]
    assert all(part.endswith(b"\n") for part in found[:-1])


def test_a_file_is_read_whole_or_in_splits(folder: Path) -> None:
    file = listed(folder)
    assert read(folder, SourceSplit(file)) == b"one\ntwo\nthree\n"
    parts = [read(folder, split) for split in source_splits([file], 5, is_splittable=True)]
    assert parts == [b"one\ntwo\n", b"three\n", b""]


def test_what_changed_since_it_was_listed_is_not_read(folder: Path) -> None:
    file = listed(folder)
    (folder / "a").write_bytes(b"one\ntwo\nfour\n")
    with pytest.raises(SourceChanged, match="was changed"):
        read(folder, SourceSplit(file))
    (folder / "a").unlink()
    with pytest.raises(SourceChanged, match="no longer exists"):
        read(folder, SourceSplit(file))


def test_what_changes_while_it_is_read_is_noticed(folder: Path) -> None:
    file = listed(folder)

    def touched() -> None:
        with opened_split(SourceSplit(file), access(folder)) as stream:
            stream.read()
            os.utime(folder / "a", ns=(1, 1))

    with pytest.raises(SourceChanged, match="was changed"):
        touched()


def test_a_link_that_is_put_there_since_is_not_followed_out(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = listed(folder)
    secret = tmp_path_factory.mktemp("secret") / "s"
    (folder / "a").rename(secret)
    (folder / "a").symlink_to(secret)
    with pytest.raises(SourceNotAllowed, match="leads out"):
        read(folder, SourceSplit(file))
