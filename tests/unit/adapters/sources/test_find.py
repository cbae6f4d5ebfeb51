"""Addresses with globs on a disk, and attempts to leave the allowed folders."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pytest

from service.adapters.sources.find import FoundSources
from service.adapters.sources.storage import SourceAccess
from service.errors.source_errors import SourceInvalid, SourceNotAllowed
from service.model.ingest.source_uris import SourceUri
from service.model.ingest.sources import SourceBounds


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """A folder that may be read, beside one that may not."""
    folder = tmp_path / "in"
    for name in ("a.json", "b.json", "c.csv", ".hidden.json", "_temporary.json", "x/d.json", "x/y/e.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}\n")
    (tmp_path / "in-secret").mkdir()
    (tmp_path / "in-secret" / "s.json").write_text("secret")
    return folder


def sources(inbox: Path, **bounds: int) -> FoundSources:
    return FoundSources(SourceAccess((inbox.as_uri(),)), SourceBounds(**bounds))


def names(inbox: Path, pattern: str) -> list[str]:
    found = sources(inbox).files(f"{inbox.as_uri()}/{pattern}")
    return [file.uri.removeprefix(f"{inbox.as_uri()}/") for file in found]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a.json", ["a.json"]),
        ("*.json", ["a.json", "b.json"]),
        ("[ab].json", ["a.json", "b.json"]),
        ("?.csv", ["c.csv"]),
        ("*/*.json", ["x/d.json"]),
        ("**/*.json", ["a.json", "b.json", "x/d.json", "x/y/e.json"]),
        ("x/**", ["x/d.json", "x/y/e.json"]),
        ("**/**/e.json", ["x/y/e.json"]),
        (".*.json", [".hidden.json"]),
    ],
)
def test_globs_mean_the_files_that_a_shell_would_find(inbox: Path, pattern: str, expected: list[str]) -> None:
    assert names(inbox, pattern) == expected


def test_a_name_that_no_address_can_have_is_reported(inbox: Path) -> None:
    (inbox / "a%2Fb.json").write_text("{}\n")
    with pytest.raises(SourceInvalid, match="Rename it"):
        names(inbox, "*.json")


class Mocked(SourceAccess):
    """Access to object stores in memory, whose times have milliseconds."""

    def file_system(self, uri: SourceUri) -> Any:  # noqa: ARG002
        system = pafs._MockFileSystem(datetime(2026, 1, 1, 0, 0, 1, 999_000, tzinfo=UTC))
        system.create_dir("b/in")
        with system.open_output_stream("b/in/a.json") as file:
            file.write(b"{}")
        return system


def test_of_objects_times_are_reported_in_whole_seconds_wherever_they_come_from() -> None:
    found = FoundSources(Mocked(("s3://b/in",)), SourceBounds())
    [listed], [asked] = found.files("s3://b/in/*.json"), found.files("s3://b/in/a.json")
    assert listed == asked
    assert listed.modified_ns == int(datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC).timestamp()) * 10**9


def test_a_file_is_reported_with_its_size_and_its_time(inbox: Path) -> None:
    [found] = sources(inbox).files(f"{inbox.as_uri()}/a.json")
    status = (inbox / "a.json").stat()
    assert (found.byte_count, found.modified_ns) == (3, status.st_mtime_ns)


def test_without_allowed_prefixes_the_setting_is_named(inbox: Path) -> None:
    with pytest.raises(SourceNotAllowed, match="ingest_source_prefixes is empty"):
        FoundSources(SourceAccess(()), SourceBounds()).files(f"{inbox.as_uri()}/a.json")


@pytest.mark.parametrize(
    "outside", ["{parent}/in-secret/s.json", "{parent}/*/s.json", "{parent}/i*/a.json", "s3://in/a"]
)
def test_other_places_are_refused(inbox: Path, outside: str) -> None:
    with pytest.raises(SourceNotAllowed, match="outside of the locations that callers may read"):
        sources(inbox).files(outside.format(parent=inbox.parent.as_uri()))


@pytest.mark.parametrize(
    "uri",
    [
        "{in}/../in-secret/s.json",
        "{in}/%2e%2e/in-secret/s.json",
        "{in}/x/%2E%2e%2fin-secret/s.json",
        "{in}//a.json",
        "{in}/./a.json",
        "{in}/a\x00.json",
        "{in}\\..\\a.json",
        "http://host/a.json",
        "ftp://host/a.json",
        "/etc/passwd",
        "file:/etc/passwd",
        "file://host/etc/passwd",
        "s3:///no-bucket",
        "",
    ],
)
def test_an_address_that_may_mean_another_place_is_refused(inbox: Path, uri: str) -> None:
    with pytest.raises(SourceInvalid, match="cannot be read"):
        sources(inbox).files(uri.replace("{in}", inbox.as_uri()))


def test_links_that_stay_inside_are_followed_and_others_refused(inbox: Path) -> None:
    (inbox / "link.json").symlink_to(inbox / "a.json")
    assert names(inbox, "link.json") == ["link.json"]
    (inbox / "out.json").symlink_to(inbox.parent / "in-secret" / "s.json")
    (inbox / "folder").symlink_to(inbox.parent / "in-secret")
    for pattern in ("out.json", "o*.json", "folder/s.json", "folder/*.json", "f*/s.json"):
        with pytest.raises(SourceNotAllowed, match="leads out of"):
            names(inbox, pattern)


def test_links_in_circles_end(inbox: Path) -> None:
    (inbox / "x" / "again").symlink_to(inbox / "x")
    assert names(inbox, "x/**/e.json") == ["x/y/e.json"]


def test_pipes_and_links_to_nothing_are_no_files(inbox: Path) -> None:
    os.mkfifo(inbox / "pipe.json")
    (inbox / "nothing.json").symlink_to(inbox / "gone")
    assert names(inbox, "*.json") == ["a.json", "b.json"]


def test_what_means_no_file_is_an_error(inbox: Path) -> None:
    for pattern in ("nothing.json", "*.parquet", "nowhere/*.json", "a.json/*"):
        with pytest.raises(SourceInvalid, match="There is no file"):
            names(inbox, pattern)
    with pytest.raises(SourceInvalid, match="is a folder"):
        names(inbox, "x")


@pytest.mark.parametrize(
    ("bounds", "setting"),
    [
        ({"files": 1}, "ingest_source_max_files"),
        ({"byte_count": 5}, "ingest_source_max_bytes"),
        ({"entries": 3}, "ingest_source_max_files"),
    ],
)
def test_more_than_the_bounds_is_refused(inbox: Path, bounds: dict[str, int], setting: str) -> None:
    with pytest.raises(SourceInvalid, match=setting):
        sources(inbox, **bounds).files(f"{inbox.as_uri()}/*.json")
