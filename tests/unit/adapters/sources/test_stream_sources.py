"""The topics that streams may read, and the files of their folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.adapters.sources.find import FoundSources
from service.adapters.sources.storage import SourceAccess
from service.adapters.sources.stream_sources import AllowedStreamSources, AllowedTopics
from service.errors.source_errors import (
    SourceChanged,
    SourceInvalid,
    SourceNotAllowed,
    StreamInvalid,
    StreamSourceDown,
)
from service.model.ingest.ingest_request import WriteFault
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.sources import SourceBounds, SourceRecords
from service.model.ingest.streams import DirectorySource, KafkaSource

TOPICS = AllowedTopics(("one:9092", "two:9092"), ("clicks", "logs-*"))


@pytest.mark.parametrize(
    ("servers", "topic"),
    [("one:9092", "clicks"), ("two:9092,one:9092", "logs-http"), ("one:9092", "logs-")],
)
def test_what_is_listed_may_be_read(servers: str, topic: str) -> None:
    TOPICS.check(KafkaSource(servers, topic))


@pytest.mark.parametrize(
    ("servers", "topic", "setting"),
    [
        ("three:9092", "clicks", "stream_kafka_servers"),
        ("one:9092,three:9092", "clicks", "stream_kafka_servers"),
        ("one:9092, two:9092", "clicks", "stream_kafka_servers"),
        ("one:9092,", "clicks", "stream_kafka_servers"),
        ("one:9092", "payments", "stream_kafka_topics"),
        ("one:9092", "Clicks", "stream_kafka_topics"),
    ],
)
def test_nothing_else_may_be_read(servers: str, topic: str, setting: str) -> None:
    with pytest.raises(SourceNotAllowed, match=setting):
        TOPICS.check(KafkaSource(servers, topic))


def test_kafkas_own_topics_have_to_be_spelled_out() -> None:
    own = KafkaSource("one:9092", "__consumer_offsets")
    with pytest.raises(SourceNotAllowed):
        AllowedTopics(("one:9092",)).check(own)
    AllowedTopics(("one:9092",), ("__consumer_*",)).check(own)


@pytest.fixture
def sources(tmp_path: Path) -> AllowedStreamSources:
    (tmp_path / "in").mkdir()
    access = SourceAccess(((tmp_path / "in").as_uri(),))
    return AllowedStreamSources(FoundSources(access, SourceBounds()), access, AllowedTopics())


@pytest.mark.parametrize("glob", [None, "*.ndjson", "*.{csv,csv.gz}", "**"])
def test_a_glob_is_for_the_names_in_a_folder(
    sources: AllowedStreamSources, tmp_path: Path, glob: str | None
) -> None:
    records = SourceRecords((tmp_path / "in").as_uri(), RecordFormat.NDJSON)
    sources.check(DirectorySource(records, glob))


@pytest.mark.parametrize("glob", ["sub/*.ndjson", "**/*.ndjson", "../x/*.ndjson"])
def test_a_glob_by_which_nothing_is_ever_found_is_refused(
    sources: AllowedStreamSources, tmp_path: Path, glob: str
) -> None:
    records = SourceRecords((tmp_path / "in").as_uri(), RecordFormat.NDJSON)
    with pytest.raises(StreamInvalid, match="has a slash") as refused:
        sources.check(DirectorySource(records, glob))
    assert refused.value.violations == (WriteFault("/source/glob", refused.value.detail),)


def as_spark_says(path: Path) -> str:
    return f"file:{path}"


def test_files_are_found_by_the_very_names_that_they_have(
    sources: AllowedStreamSources, tmp_path: Path
) -> None:
    names = ["a b.csv", "50%.json", "[ab]*.json", "é.json"]
    for name in names:
        (tmp_path / "in" / name).write_bytes(b"1234")
    (tmp_path / "in" / "a.json").write_bytes(b"1")
    found = sources.files([as_spark_says(tmp_path / "in" / name) for name in names]).all()
    assert [file.uri for file in found] == [f"file://{tmp_path}/in/{name}" for name in names]
    assert {file.byte_count for file in found} == {4}


def test_files_that_are_elsewhere_are_refused(sources: AllowedStreamSources, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"1")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
    for path in (tmp_path / "in" / "link", tmp_path / "secret"):
        with pytest.raises(SourceNotAllowed):
            sources.files([as_spark_says(path)])


def test_files_that_are_gone_are_reported_beside_those_that_are_there(
    sources: AllowedStreamSources, tmp_path: Path
) -> None:
    (tmp_path / "in" / "here").write_bytes(b"1")
    found = sources.files([as_spark_says(tmp_path / "in" / name) for name in ("gone", "here")])
    assert [file.uri for file in found.files] == [(tmp_path / "in" / "here").as_uri()]
    assert [file.file.uri for file in found.unfound] == [(tmp_path / "in" / "gone").as_uri()]
    with pytest.raises(SourceChanged, match="gone no longer exists"):
        found.all()


@pytest.mark.parametrize("name", ["back\\slash.json", "tab\t.json", "line\nend.json", "dots%2e%2E"])
def test_files_whose_names_no_address_has_are_reported_beside_the_others(
    sources: AllowedStreamSources, tmp_path: Path, name: str
) -> None:
    for file_name in (name, "here"):
        (tmp_path / "in" / file_name).write_bytes(b"1")
    found = sources.files([as_spark_says(tmp_path / "in" / file_name) for file_name in (name, "here")])
    assert [file.uri for file in found.files] == [(tmp_path / "in" / "here").as_uri()]
    [unfound] = found.unfound
    assert unfound.file.uri == f"file://{tmp_path}/in/{name}"
    with pytest.raises(SourceInvalid, match="cannot be read"):
        found.all()


def test_of_a_folder_that_is_gone_no_file_counts_as_gone(
    sources: AllowedStreamSources, tmp_path: Path
) -> None:
    (tmp_path / "in").rmdir()
    with pytest.raises(StreamSourceDown, match="no folder file://"):
        sources.files([as_spark_says(tmp_path / "in" / "gone")])
