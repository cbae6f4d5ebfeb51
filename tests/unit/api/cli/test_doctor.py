"""`sluice doctor`: settings, folders, clocks and its report. Real parts are tested in integration tests."""

from __future__ import annotations

import http.server
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from api.bootstrap.parts.find_jars import engine_jars, unfetched
from api.bootstrap.settings import Settings
from api.bootstrap.shown_settings import MASK, secrets_of, without_secrets
from api.cli.commands.doctor import examine
from api.cli.doctor.clock_skew import clock_skew
from api.cli.doctor.configuration import configuration
from api.cli.doctor.folders import GIB, MIB, Room, disk, folder, local_folders, permissions
from api.cli.doctor.listening_address import address
from api.cli.doctor.report import as_document, as_table, worst_of
from api.cli.doctor.spark_log import last_faults
from api.cli.doctor.store_findings import filter_cache, metrics_store
from api.cli.doctor.trial_query import trial_query, trial_table_query
from api.cli.doctor.versions import versions
from api.cli.part_checks import Finding, State
from api.cli.wiring_checks import machine_checks
from api.cli.wiring_doctor import system_clock
from api.cli.wiring_doctor_parts import DoctorParts
from service.errors.gateway_error import CannotStart
from service.errors.unavailable import EngineLost
from service.model.operations.store_answer import StoreAnswer
from service.model.tables.tables import TableName
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.engine import FakeEngine
from tests.integration.running import run_sluice
from tests.unit.spark_session.jars.test_jars import FETCH_TWO_JARS, InstallJava, install_java

__all__ = ["install_java"]

ALL_STATES = [
    Finding("java", State.OK, "version 17", elapsed_ms=12),
    Finding("jars", State.WARNING, "The start fetches [one].", "Run `sluice jars`."),
    Finding("metrics store", State.FAILED, "The metrics store does not answer.", "Start it."),
    Finding("clock", State.SKIPPED, "No store answered."),
]


def settings_of(**given: object) -> Settings:
    return Settings.model_validate({"port": 0} | given)


def of_part(findings: list[Finding], part: str) -> Finding:
    return next(finding for finding in findings if finding.part == part)


def nowhere_to_write(folder: Path) -> Path:
    """Returns an existing folder in which nobody can create a file, not even root."""
    if os.geteuid() == 0:
        return Path("/proc")
    folder.mkdir()
    folder.chmod(0o555)
    return folder


# ---- the report ------------------------------------------------------------------------------------


def test_the_document_has_each_check_and_how_many_came_to_what() -> None:
    document = orjson.loads(orjson.dumps(as_document(ALL_STATES)))
    assert document["version"] == 1
    assert document["state"] == "FAILED"
    assert document["counts"] == {"OK": 1, "WARNING": 1, "FAILED": 1, "SKIPPED": 1}
    assert [check["part"] for check in document["checks"]] == ["java", "jars", "metrics store", "clock"]
    first, second, *_ = document["checks"]
    assert first == {
        "part": "java",
        "state": "OK",
        "detail": "version 17",
        "cure": None,
        "elapsedMs": 12,
    }
    assert second["cure"] == "Run `sluice jars`."
    assert len(first) == len(fields(Finding))


def test_the_table_has_a_line_for_each_part_and_takes_no_text_for_markup() -> None:
    console = Console(width=200, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(as_table(ALL_STATES))
    lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
    console.file.close()
    assert lines[1:] == [
        "java OK 12 version 17",
        "jars WARNING 0 The start fetches [one]. Run `sluice jars`.",
        "metrics store FAILED 0 The metrics store does not answer. Start it.",
        "clock SKIPPED 0 No store answered.",
    ]


@pytest.mark.parametrize(
    ("states", "worst"),
    [
        ([State.OK, State.SKIPPED], State.OK),
        ([State.WARNING, State.OK], State.WARNING),
        ([State.WARNING, State.FAILED, State.OK], State.FAILED),
        ([], State.OK),
    ],
)
def test_what_failed_counts_most_and_what_was_skipped_not_at_all(states: list[State], worst: State) -> None:
    assert worst_of([Finding("part", state, "") for state in states]) is worst


# ---- exit codes ------------------------------------------------------------------------------------


def test_settings_that_do_not_fit_fail_one_line_and_skip_all_that_needs_them(tmp_path: Path) -> None:
    ended = run_sluice("doctor", tmp_path, {"SLUICE_PROT": "1", "COLUMNS": "200"})
    assert ended.returncode == 1, ended.stderr
    lines = [" ".join(line.split()) for line in ended.stdout.splitlines()]
    assert any(line.startswith("configuration FAILED") and "SLUICE_PORT" in line for line in lines)
    skipped = [line for line in lines if "It needs configuration, which failed." in line]
    assert len(skipped) > 8
    assert lines[-1].endswith(f"1 FAILED, {len(skipped)} SKIPPED.")
    assert "configuration …" in ended.stderr


def test_a_wrong_call_leaves_with_status_2(tmp_path: Path) -> None:
    ended = run_sluice("doctor", tmp_path, {}, "--yaml")
    assert ended.returncode == 2
    assert ended.stdout == ""


# ---- settings --------------------------------------------------------------------------------------


def test_settings_that_say_nothing_odd_are_counted() -> None:
    found = configuration(settings_of())
    assert found.state is State.OK
    assert found.text.startswith("1 settings given by the environment")


def test_settings_that_contradict_each_other_warn(tmp_path: Path) -> None:
    (tmp_path / "warehouse" / "shop").mkdir(parents=True)
    lake = {"type": "rest", "uri": "http://127.0.0.1:9"}
    found = configuration(
        settings_of(
            data_dir=tmp_path,
            catalogs={"prod": lake},
            default_catalog="prod",
            spark_jars=["a.jar"],
            spark_extra_packages=["org.xerial:sqlite-jdbc:3.50.3.0"],
            host="0.0.0.0",
            allow_unauthenticated=True,
        )
    )
    assert found.state is State.WARNING
    for expected in ("spark_extra_packages has no effect", "is not served", "may send any query"):
        assert expected in found.text
    for expected in ("spark_jars", "embedded_catalog", "api_tokens"):
        assert expected in found.cure


def test_versions_are_named_and_a_runtime_for_another_spark_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    found = versions(settings_of())
    assert found.state is State.OK
    for name in ("Sluice ", "Python 3", "Spark 4.1", "Iceberg 1.", "PyIceberg 0."):
        assert name in found.text
    other = versions(settings_of(spark_packages=["org.apache.iceberg:iceberg-spark-runtime-3.5_2.13:1.9.2"]))
    assert other.state is State.WARNING
    assert "made for Spark 3.5" in other.text
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert versions(None).state is State.WARNING


def test_no_secret_is_shown_wherever_it_stands() -> None:
    settings = settings_of(
        metrics_store_url="postgresql+psycopg://me:p%40ssword@db/sluice",
        filter_cache_url="redis://:hushhush@cache/0",
        catalogs={"lake": {"type": "rest", "uri": "https://c", "credential": "user:secrecy"}},
        spark_conf={"spark.hadoop.fs.s3a.secret.key": "bucketkey"},
    )
    secrets = secrets_of(settings)
    text = "p%40ssword, p@ssword, hushhush, user:secrecy and bucketkey are at https://c"
    assert without_secrets(text, secrets) == f"{MASK}, {MASK}, {MASK}, {MASK} and {MASK} are at https://c"


# ---- folders ---------------------------------------------------------------------------------------


def test_a_folder_is_written_to_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    found = folder(tmp_path, "the data", "SLUICE_DATA_DIR", wanted_bytes=0, least_bytes=0)
    assert found.state is State.OK, found
    assert "renamed" in found.text
    assert "free" in found.text
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    found = permissions(tmp_path / "new" / "data", "SLUICE_DATA_DIR")
    assert found.state is State.OK
    assert f"the start makes {tmp_path / 'new' / 'data'}" in found.text
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_file_fails(tmp_path: Path) -> None:
    path = nowhere_to_write(tmp_path / "closed")
    found = folder(path, "the data", "SLUICE_DATA_DIR", wanted_bytes=0)
    assert found.state is State.FAILED
    assert found.text.startswith(f"{path} cannot be written (")
    assert "SLUICE_DATA_DIR" in found.cure


@pytest.mark.parametrize(
    ("room", "state"),
    [
        (Room(10 * GIB, None), State.OK),
        (Room(10 * GIB, 1_000_000), State.OK),
        (Room(1 * GIB, 1_000_000), State.WARNING),
        (Room(10 * GIB, 10_000), State.WARNING),
        (Room(100 * MIB, 1_000_000), State.FAILED),
        (Room(10 * GIB, 10), State.FAILED),
    ],
)
def test_little_room_warns_and_next_to_none_fails(tmp_path: Path, room: Room, state: State) -> None:
    found = disk(tmp_path, "results", wanted_bytes=2 * GIB, room=room)
    assert found.state is state
    assert (found.cure == "") is (state is State.OK)


def test_spark_spills_to_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    assert local_folders(settings_of()) == (Path("/tmp"),)
    conf = settings_of(spark_conf={"spark.local.dir": "/one, /two"})
    assert local_folders(conf) == (Path("/one"), Path("/two"))
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/three")
    assert local_folders(conf) == (Path("/three"),)


# ---- clocks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead_ms", "round_trip_ms", "state"),
    [
        (0, 1, State.OK),
        (1_999, 1, State.OK),
        (-2_500, 1, State.WARNING),
        (29_000, 1, State.WARNING),
        (-61_000, 1, State.FAILED),
        (31_000, 1, State.FAILED),
        # An answer that took long proves no clock skew.
        (2_500, 4_000, State.OK),
    ],
)
def test_a_skew_warns_from_two_seconds_and_fails_from_thirty(
    ahead_ms: float, round_trip_ms: float, state: State
) -> None:
    near, far = StoreAnswer("PostgreSQL 18", 1, 0), StoreAnswer("Redis 7", round_trip_ms, ahead_ms)
    assert clock_skew({"metrics store": near, "filter cache": far}).state is state


def test_without_a_store_that_answers_there_is_no_clock_to_compare_with() -> None:
    assert clock_skew({}).state is State.SKIPPED


# ---- stores ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "is_embedded", "state"),
    [
        (("0017",), False, State.OK),
        (("0016",), False, State.FAILED),
        ((), False, State.FAILED),
        # The start migrates an older schema itself.
        (("0016",), True, State.OK),
    ],
)
def test_the_schema_of_another_version_fails_where_the_start_does_not_migrate(
    found: tuple[str, ...], is_embedded: bool, state: State
) -> None:
    answer = StoreAnswer("PostgreSQL 18", 3, 0)
    seen = metrics_store(answer, found, ("0017",), is_embedded=is_embedded)
    assert seen.state is state
    assert ("sluice migrate" in seen.cure) is (state is State.FAILED)


def test_the_schema_of_a_newer_version_warns() -> None:
    answer = StoreAnswer("PostgreSQL 18", 3, 0)
    seen = metrics_store(answer, ("0018",), ("0017",), is_embedded=False, is_newer=True)
    assert (seen.state, seen.cure) == (
        State.WARNING,
        "It belongs to a newer version: run that version everywhere.",
    )


@pytest.mark.parametrize(
    ("answer", "state", "reported"),
    [
        (StoreAnswer("Redis 7", 3, 0, "allkeys-lru", 256 * MIB), State.OK, "256 MiB, allkeys-lru"),
        (StoreAnswer("Redis 7", 3, 0, "noeviction", 0), State.OK, "no limit, noeviction"),
        (StoreAnswer("Redis 7", 3, 0), State.OK, "in 3 ms"),
        (StoreAnswer("Redis 7", 3, 0, "noeviction", 256 * MIB), State.WARNING, "maxmemory-policy"),
        (StoreAnswer("Redis 7", 500, 0), State.WARNING, "nearer"),
    ],
)
def test_a_cache_that_is_far_or_takes_no_more_keys_warns(
    answer: StoreAnswer, state: State, reported: str
) -> None:
    found = filter_cache(answer, 400)
    assert found.state is state
    assert reported in f"{found.text} {found.cure}"


# ---- queries ---------------------------------------------------------------------------------------


def test_the_smallest_table_with_rows_is_counted_where_the_engine_can_read_it() -> None:
    names = [
        TableName(*dotted.split("."))
        for dotted in ("lake.s.big", "lake.s.empty", "lake.s.sm`all", "half.s.x")
    ]
    catalogs = FakeCatalogs(("half", "lake"), map(facts_of_empty_table, names))
    for name, record_count in zip(names, (500, 0, 50, 5), strict=True):
        if record_count:
            catalogs.append(name, record_count)
    engine = FakeEngine()
    found = trial_table_query(engine, catalogs, ("half",), within_s=60)
    assert found.state is State.OK
    assert "FROM `lake`.`s`.`sm``all` LIMIT" in engine.runs[0].sql


def test_without_a_table_that_has_rows_no_query_runs() -> None:
    engine = FakeEngine()
    catalogs = FakeCatalogs(("lake",), [facts_of_empty_table(TableName("lake", "s", "empty"))])
    assert trial_table_query(engine, catalogs, (), within_s=60).state is State.SKIPPED
    assert engine.runs == []


def test_an_engine_that_is_lost_is_reported_as_such() -> None:
    with pytest.raises(EngineLost):
        trial_query(FakeEngine(EngineLost()), within_s=60)


def test_the_last_errors_of_sparks_log_are_reported_once_and_without_addresses(tmp_path: Path) -> None:
    assert list(last_faults(tmp_path)) == []
    lines = [f"2026-01-01T00:00:00.000Z ERROR Master: number {number}" for number in range(9)]
    lines += ["\tat org.apache.spark.Some.where(Some.scala:1)", lines[-1]]
    lines += ["2026-01-01T00:00:00.000Z ERROR Worker: spark://user:s3cret@host is gone", "and no more"]
    (tmp_path / "spark.log").write_text("\n".join(lines))
    (tmp_path / "jvm.log").write_text("Picked up JDK_JAVA_OPTIONS\n")
    assert list(last_faults(tmp_path)) == [
        "Spark: Master: number 7",
        "Spark: Master: number 8",
        "Spark: Worker: spark:… is gone",
    ]


# ---- the address -----------------------------------------------------------------------------------


@contextmanager
def answering(body: bytes) -> Iterator[int]:
    """Runs a server that answers every request with the same body, and yields its port."""

    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def test_a_gateway_that_runs_already_is_no_failure() -> None:
    with answering(b'{"status": "READY"}') as port:
        found = address(settings_of(port=port), lambda: pytest.fail("nothing is bound"))
    assert found == f"A gateway listens on 127.0.0.1, port {port}, and says READY"


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}"])
def test_another_program_on_the_port_fails(body: bytes) -> None:
    with answering(body) as port, pytest.raises(CannotStart, match="Another program listens"):
        address(settings_of(port=port), lambda: "free")


def test_an_address_that_nobody_has_is_tried_as_before_a_start() -> None:
    with answering(b"") as port:
        pass
    assert address(settings_of(port=port), lambda: "free") == "free"


# ---- jars ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("iceberg", "warehouse", "is_reading_kafka"),
    [
        ("1.11.0", "file:///lake", False),
        ("1.11.0", "s3://bucket/lake", False),
        ("1.12.0", "s3://bucket/lake", False),
        ("1.12.0", "file:///lake", True),
    ],
)
def test_what_would_be_fetched_is_what_is_fetched(
    tmp_path: Path, install_java: InstallJava, iceberg: str, warehouse: str, is_reading_kafka: bool
) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    runtime = f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{iceberg}"
    settings = settings_of(spark_packages=[runtime], data_dir=tmp_path)
    catalogs: list[Mapping[str, str]] = [{"type": "sql", "uri": "sqlite://", "warehouse": warehouse}]

    def missing() -> tuple[str, ...]:
        return unfetched(settings, catalogs, tmp_path / "jars", is_reading_kafka=is_reading_kafka)

    before = missing()
    assert not (tmp_path / "jars").exists()
    assert runtime in before
    assert any("iceberg-aws-bundle" in package for package in before) is warehouse.startswith("s3:")
    assert any("kafka-clients" in package for package in before) is is_reading_kafka
    # Pinned jars are stored before they are refused, as this Java fetches different ones.
    with suppress(CannotStart):
        engine_jars(settings, catalogs, tmp_path / "jars", is_reading_kafka=is_reading_kafka)
    assert missing() == ()


def test_jars_that_are_not_there_warn_where_they_can_be_fetched(tmp_path: Path) -> None:
    jars = next(check for check in machine_checks(settings_of(jars_dir=tmp_path)) if check.part == "jars")
    found = jars.attempt()
    assert not isinstance(found, str)
    assert found.state is State.WARNING
    assert "iceberg-spark-runtime" in found.text
    assert found.cure == "Run `sluice jars` to fetch them now."


def test_jars_that_cannot_be_stored_fail(tmp_path: Path) -> None:
    settings = settings_of(jars_dir=nowhere_to_write(tmp_path / "closed"))
    jars = next(check for check in machine_checks(settings) if check.part == "jars")
    found = jars.attempt()
    assert not isinstance(found, str)
    assert found.state is State.FAILED
    assert "SLUICE_JARS_DIR" in found.cure


# ---- beside a gateway ------------------------------------------------------------------------------


def test_only_data_of_the_gateway_are_used_where_they_are(tmp_path: Path) -> None:
    data, scratch = tmp_path / "data", tmp_path / "scratch"
    with ExitStack() as stack:
        parts = DoctorParts(settings=settings_of(data_dir=data), stack=stack, scratch=scratch)
        assert parts.folder("postgres") == scratch / "postgres"
        (data / "postgres" / "data").mkdir(parents=True)
        assert parts.folder("postgres") == data / "postgres"
        assert parts.folder("logs") == scratch / "logs"
        assert parts.jars_folder == data / "jars"
    assert sorted(path.name for path in data.iterdir()) == ["postgres"]


def test_stores_that_do_not_answer_fail_and_hide_their_passwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    settings = settings_of(
        data_dir=tmp_path / "data",
        jars_dir=tmp_path / "jars",
        metrics_store_url="postgresql+psycopg://me:s3cret@127.0.0.1:9/sluice",
        filter_cache_url="redis://:s3cret@127.0.0.1:9/0",
        catalogs={"lake": {"type": "rest", "uri": "http://127.0.0.1:9/", "token": "s3cret"}},
    )
    findings = examine(lambda: settings, system_clock(), has_engine=False)
    for part in ("metrics store", "filter cache", "catalog lake in PyIceberg"):
        assert of_part(findings, part).state is State.FAILED
        assert of_part(findings, part).cure
    assert of_part(findings, "clock").state is State.SKIPPED
    assert of_part(findings, "ingest").text == "It needs catalog lake in PyIceberg, which failed."
    assert of_part(findings, "engine").text == "It needs Spark, which --no-engine leaves out."
    described = (
        (Path(__file__).parents[4] / "docs" / "operations" / "doctor.md").read_text().replace("…", "lake")
    )
    for finding in findings:
        assert f"`{finding.part.replace('/tmp', 'lake')}`" in described
    assert "s3cret" not in json.dumps(as_document(findings))
    assert list(tmp_path.iterdir()) == []
