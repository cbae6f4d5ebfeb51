"""Streams over a folder: every record once, whatever is killed."""

from __future__ import annotations

import gzip
import io
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.table import Table

from tests.integration.asking import rows
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.log_tables import LOG_SCHEMA, ids, lines, named, put
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

FILES, ROWS = 30, 20


def stream(table: Table, inbox: Path, **body: Any) -> dict[str, Any]:
    return {
        "name": "clicks",
        "table": named(table),
        "source": {"directory": inbox.as_uri(), "filesPerBatch": 2},
        "interval": "100ms",
    } | body


def test_a_stream_is_reported_listed_stopped_and_resumed(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    put(inbox, "a.json", lines([{"id": 1}, {"id": 2}]))
    created = gateway.post("/streams", json=stream(log_table, inbox))
    assert created.status_code == 201, created.text
    link = created.json()["links"]["self"]
    until(lambda: gateway.get(link).json()["progress"]["records"] == 2, 60)
    assert ids(log_table) == [1, 2]
    assert link in [stream["links"]["self"] for stream in gateway.get("/streams").json()["streams"]]

    assert gateway.delete(link).json()["state"] == "STOPPED"
    assert gateway.delete(link).json()["state"] == "STOPPED"
    resumed = gateway.post(f"{link}/resume")
    assert resumed.json()["state"] == "RUNNING"
    put(inbox, "b.json", lines([{"id": 3}]))
    until(lambda: gateway.get(link).json()["progress"]["records"] == 3, 60)
    assert ids(log_table) == [1, 2, 3]
    log_table.refresh()
    checkpoint = gateway.get(link).json()["checkpointId"]
    snapshot = log_table.current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert str(snapshot.summary["sluice.stream-batches"]).startswith(f"{checkpoint}/")
    gateway.delete(link)


def test_files_are_read_whatever_their_times_say(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    put(inbox, "first.json", lines([{"id": 1}]))
    link = gateway.post("/streams", json=stream(log_table, inbox)).json()["links"]["self"]

    def has_read(count: int) -> bool:
        return bool(gateway.get(link).json()["progress"]["records"] == count)

    until(lambda: has_read(1), 60)
    put(inbox, "moved.json", lines([{"id": 2}]), age=timedelta(days=8))
    until(lambda: has_read(2), 60)
    put(inbox, "ahead.json", lines([{"id": 3}]), age=-timedelta(days=365))
    until(lambda: has_read(3), 60)
    put(inbox, "last.json", lines([{"id": 4}]))
    put(inbox, "oldest.json", lines([{"id": 5}]), age=timedelta(days=40 * 365))
    until(lambda: has_read(5), 60)
    assert ids(log_table) == [1, 2, 3, 4, 5]
    gateway.delete(link)


def test_a_folder_may_have_files_of_any_form_that_sources_have(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    written = io.BytesIO()
    pq.write_table(pa.table({"id": [4, 5], "note": ["x", None]}), written)
    files = {
        "csv": {
            "a b.csv": b"id,kind\n1,a\n",
            "[b].csv.gz": gzip.compress(b"kind,id\nb,2\n"),
            "c.csv.zst": pa.compress(b"id\n3\n", codec="zstd", asbytes=True),
            "empty.csv": b"id,kind\n",
        },
        "parquet": {"a.parquet": written.getvalue()},
    }
    links = []
    for kind, some in files.items():
        (inbox / kind).mkdir()
        for name, content in some.items():
            put(inbox / kind, name, content)
        source = {"directory": (inbox / kind).as_uri(), "format": kind}
        links.append(gateway.post("/streams", json=stream(log_table, inbox, source=source)).json()["links"])

    def reported() -> list[dict[str, Any]]:
        return [gateway.get(link["self"]).json() for link in links]

    until(
        lambda: (
            sum(answer["progress"]["records"] for answer in reported()) == 5
            or any(e["error"] for e in reported())
        ),
        60,
    )
    assert [answer["error"] for answer in reported()] == [None, None]
    assert ids(log_table) == [1, 2, 3, 4, 5]
    for link in links:
        assert gateway.delete(link["self"]).json()["error"] is None


def test_files_that_cannot_be_read_are_dead_letters_and_the_stream_goes_on(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    written = io.BytesIO()
    pq.write_table(pa.table({"id": [1, 2]}), written)
    unreadable = {
        "unknown.csv": b"id,nothing\n7,a\n",
        "cut.csv.gz": gzip.compress(b"id\n8\n" * 1000)[:-12],
        "open.csv": b'id,kind\n9,a\n10,"b\n11,c\n',
        "cut.parquet": written.getvalue()[:-20],
    }
    unreadable["back\\slash\t.csv"] = b"id\n12\n"
    for name, content in unreadable.items():
        put(inbox, name, content)
    put(inbox, "good.csv", b"id,kind\n1,a\nx,b\n")
    links = []
    for kind, glob in (("csv", "*.csv*"), ("parquet", "*.parquet")):
        source = {"directory": inbox.as_uri(), "glob": glob, "format": kind}
        sent = stream(log_table, inbox, source=source, onError="DEAD_LETTER")
        links.append(gateway.post("/streams", json=sent).json()["links"]["self"])

    def reported() -> list[dict[str, Any]]:
        return [gateway.get(link).json() for link in links]

    until(lambda: sum(answer["progress"]["rejected"] for answer in reported()) == 6, 120)
    put(inbox, "later.csv", b"id\n2\n")
    until(lambda: sum(answer["progress"]["records"] for answer in reported()) == 2, 60)
    assert [(answer["state"], answer["error"]) for answer in reported()] == [("RUNNING", None)] * 2
    assert ids(log_table) == [1, 2]
    found = rows(gateway, f"SELECT position, reason FROM {named(log_table)}__dead_letter")
    reasons = {str(position).rsplit("/", 1)[-1]: str(reason) for position, reason in found}
    assert reasons.keys() == {*unreadable, "good.csv, line 3"}
    assert "nothing" in reasons["unknown.csv"]
    assert "gzip" in reasons["cut.csv.gz"]
    assert "opens on line 3 is never closed" in reasons["open.csv"]
    assert "Parquet" in reasons["cut.parquet"]
    for link in links:
        gateway.delete(link)


def test_a_stream_that_cannot_go_on_says_why(gateway: httpx.Client, log_table: Table, inbox: Path) -> None:
    put(inbox, "a.json", lines([{"id": 1}, {"id": "two"}]))
    link = gateway.post("/streams", json=stream(log_table, inbox)).json()["links"]["self"]
    failed = until(lambda: (found := gateway.get(link).json())["state"] == "FAILED" and found, 60)
    assert failed["error"]["code"] == "RECORDS_INVALID"
    assert "1 of 2 records" in failed["error"]["detail"]
    assert ids(log_table) == []


def test_a_file_that_is_gone_before_it_was_read_is_never_passed_over(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    # After ten batches, Spark has combined the file names of all but the last into one file.
    for number in range(9):
        put(inbox, f"{number}.json", lines([{"id": number}]), age=timedelta(hours=9 - number))
    put(inbox, "a [9] 50%.json", lines([{"id": "nine"}]))
    source = {"directory": inbox.as_uri(), "filesPerBatch": 1}
    link = gateway.post("/streams", json=stream(log_table, inbox, source=source)).json()["links"]["self"]

    def failed() -> dict[str, Any]:
        found: dict[str, Any] = until(
            lambda: (found := gateway.get(link).json())["state"] == "FAILED" and found, 120
        )
        return found

    assert failed()["error"]["code"] == "RECORDS_INVALID"
    (inbox / "a [9] 50%.json").rename(inbox / ".away")
    gateway.post(f"{link}/resume")
    reported = failed()
    assert (reported["error"]["code"], reported["progress"]["batches"]) == ("SOURCE_CHANGED", 9)
    assert "a [9] 50%.json no longer exists" in reported["error"]["detail"]
    put(inbox, "a [9] 50%.json", lines([{"id": 9}]))
    put(inbox, "b.json", lines([{"id": 10}]))
    gateway.post(f"{link}/resume")
    until(lambda: gateway.get(link).json()["progress"]["records"] == 11, 60)
    assert ids(log_table) == list(range(11))
    gateway.delete(link)


def test_a_file_that_is_gone_before_it_was_read_is_a_dead_letter(folder: Path) -> None:
    data_dir, inbox = folder / "taken-away", folder / "taken-away-inbox"
    inbox.mkdir()
    settings = {
        "SLUICE_SPARK_MASTER": "local[1]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_INGEST_SOURCE_PREFIXES": inbox.as_uri(),
    }
    running = RunningGateway.start(data_dir, settings)
    with closing(embedded_catalog(data_dir)) as lake:
        lake.create_namespace_if_not_exists("logs")
        table = lake.create_table_if_not_exists("logs.taken_away", LOG_SCHEMA)
    put(inbox, "a.json", lines([{"id": 1}]))
    body = stream(table, inbox, onError="DEAD_LETTER")
    link = running.client.post("/streams", json=body).json()["links"]["self"]
    until(lambda: running.client.get(link).json()["progress"]["records"] == 1, 60)
    [checkpoint] = (path for path in data_dir.rglob(link.rsplit("/", 1)[1]) if path.is_dir())
    until((checkpoint / "commits" / "0").exists, 60)
    running.stop()
    # This is the state after a crash between the planning of a batch and its reading.
    planned = (checkpoint / "sources" / "0" / "0").read_text().replace("a.json", "b%20c.json")
    (checkpoint / "sources" / "0" / "1").write_text(planned.replace('"batchId":0', '"batchId":1'))
    offsets = (checkpoint / "offsets" / "0").read_text()
    (checkpoint / "offsets" / "1").write_text(offsets.replace('"logOffset":0', '"logOffset":1'))
    running = RunningGateway.start(data_dir, settings)
    until(lambda: running.client.get(link).json()["progress"]["rejected"] == 1, 90)
    put(inbox, "d.json", lines([{"id": 2}]))
    until(lambda: running.client.get(link).json()["progress"]["records"] == 2, 60)
    found = rows(running.client, f"SELECT position, reason FROM {named(table)}__dead_letter")
    gone = f"{inbox.as_uri()}/b c.json"
    assert found == [[gone, f"{gone}: It no longer exists."]]
    running.stop()


def test_files_of_subfolders_are_not_read_whatever_these_are_called(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    for number, name in enumerate(("plain", "day=1", "day=2/hour=x")):
        (inbox / name).mkdir(parents=True)
        put(inbox / name, "below.json", lines([{"id": 100 + number}]))
    links = []
    for number, glob in enumerate((None, "*.json")):
        source = {"directory": f"{inbox.as_uri()}/", "filesPerBatch": 2}
        sent = stream(log_table, inbox, source=source if glob is None else source | {"glob": glob})
        links.append(gateway.post("/streams", json=sent).json()["links"]["self"])
        put(inbox, f"{number}.json", lines([{"id": number}]))

    def reported() -> list[dict[str, Any]]:
        return [gateway.get(link).json() for link in links]

    until(lambda: all(answer["progress"]["records"] == 2 for answer in reported()), 120)
    (inbox / "day=3").mkdir()
    put(inbox / "day=3", "below.json", lines([{"id": 200}]))
    put(inbox, "2.json", lines([{"id": 2}]))
    until(lambda: all(answer["progress"]["records"] == 3 for answer in reported()), 60)
    assert ids(log_table) == [0, 0, 1, 1, 2, 2]
    assert [(answer["state"], answer["error"]) for answer in reported()] == [("RUNNING", None)] * 2
    for link in links:
        gateway.delete(link)


def test_a_stream_waits_for_its_folder(gateway: httpx.Client, log_table: Table, inbox: Path) -> None:
    missing = inbox / "later"
    created = gateway.post("/streams", json=stream(log_table, missing))
    assert created.status_code == 201
    link = created.json()["links"]["self"]
    waiting = until(lambda: (found := gateway.get(link).json())["error"] and found, 60)
    assert (waiting["state"], waiting["error"]["code"]) == ("RUNNING", "STREAM_SOURCE_DOWN")
    missing.mkdir()
    put(missing, "a.json", lines([{"id": 1}]))
    until(lambda: gateway.get(link).json()["progress"]["records"] == 1, 90)
    until(lambda: gateway.get(link).json()["error"] is None, 60)
    gateway.delete(link)


def test_a_checkpoint_that_has_lost_a_batch_ends_its_stream(folder: Path) -> None:
    data_dir, inbox = folder / "gone-back", folder / "gone-back-inbox"
    inbox.mkdir()
    settings = {
        "SLUICE_SPARK_MASTER": "local[1]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_INGEST_SOURCE_PREFIXES": inbox.as_uri(),
    }
    put(inbox, "a.json", lines([{"id": 1}]))
    running = RunningGateway.start(data_dir, settings)
    with closing(embedded_catalog(data_dir)) as lake:
        lake.create_namespace_if_not_exists("logs")
        table = lake.create_table_if_not_exists("logs.gone_back", LOG_SCHEMA)
        link = running.client.post("/streams", json=stream(table, inbox)).json()["links"]["self"]
        until(lambda: running.client.get(link).json()["progress"]["records"] == 1, 60)
        assert ids(table) == [1]
    [checkpoint] = (path for path in data_dir.rglob(link.rsplit("/", 1)[1]) if path.is_dir())
    until((checkpoint / "commits" / "0").exists, 60)
    running.stop()
    # This is the state after a power failure that lost the last writes.
    for name in ("offsets/0", "offsets/.0.crc", "commits/0", "commits/.0.crc"):
        (checkpoint / name).unlink(missing_ok=True)
    put(inbox, "b.json", lines([{"id": 2}]))
    running = RunningGateway.start(data_dir, settings)
    failed = until(lambda: (found := running.client.get(link).json())["state"] == "FAILED" and found, 90)
    assert failed["error"]["code"] == "STREAM_FAILED"
    assert "checkpoint has gone back" in failed["error"]["detail"]
    with closing(embedded_catalog(data_dir)) as lake:
        assert ids(lake.load_table("logs.gone_back")) == [1]
    running.stop()


def test_a_stream_reads_only_what_is_allowed(gateway: httpx.Client, log_table: Table, tmp_path: Path) -> None:
    refused = gateway.post("/streams", json=stream(log_table, tmp_path))
    assert (refused.status_code, refused.json()["code"]) == (403, "SOURCE_NOT_ALLOWED")
    kafka = {"kafka": {"bootstrapServers": "localhost:9092", "topic": "clicks"}}
    refused = gateway.post("/streams", json=stream(log_table, tmp_path, source=kafka))
    assert (refused.status_code, refused.json()["code"]) == (403, "SOURCE_NOT_ALLOWED")
    assert "stream_kafka_servers" in refused.json()["detail"]


@pytest.mark.parametrize("glob", ["sub/*.json", "[a", "{a", "[z-a]", "a\\"])
def test_a_glob_that_is_none_is_refused(
    gateway: httpx.Client, log_table: Table, inbox: Path, glob: str
) -> None:
    source = {"directory": inbox.as_uri(), "glob": glob}
    refused = gateway.post("/streams", json=stream(log_table, inbox, source=source))
    assert (refused.status_code, refused.json()["code"]) == (422, "STREAM_INVALID")
    [error] = refused.json()["errors"]
    assert error["pointer"] == "/source/glob"


def test_a_gateway_that_is_killed_amid_micro_batches_writes_each_record_once(folder: Path) -> None:
    data_dir, inbox = folder / "streaming", folder / "streaming-inbox"
    inbox.mkdir()
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_INGEST_SOURCE_PREFIXES": inbox.as_uri(),
    }
    for number in range(FILES):
        put(inbox, f"{number:03}.json", lines({"id": number * ROWS + index} for index in range(ROWS)))
    link = ""
    # Each batch has two files, and each run ends in the middle, the second one before its first batch.
    for batches_before_kill in (3, 0, 8, None):
        running = RunningGateway.start(data_dir, settings)
        with closing(embedded_catalog(data_dir)) as lake:
            lake.create_namespace_if_not_exists("logs")
            table = lake.create_table_if_not_exists("logs.killed", LOG_SCHEMA)
            if not link:
                created = running.client.post("/streams", json=stream(table, inbox))
                assert created.status_code == 201, created.text
                link = created.json()["links"]["self"]
            # A run that ends between two of Spark's own logs leaves its files to the next batch, which is
            # then larger. So the last run does not count batches.
            wanted = FILES * ROWS if batches_before_kill is None else batches_before_kill
            counted = "records" if batches_before_kill is None else "batches"
            client = running.client
            until(lambda: client.get(link).json()["progress"][counted] >= wanted, 120)  # noqa: B023
            if batches_before_kill is not None:
                running.kill()
                continue
            assert ids(table) == list(range(FILES * ROWS))
            running.stop()
