from __future__ import annotations

import json
from pathlib import Path
from typing import get_origin

import pytest

from api.bootstrap.settings import Settings
from api.bootstrap.settings_loading import REMOVED, load_settings
from api.bootstrap.shown_settings import MASK, masked
from service.errors.gateway_error import CannotStart

TOKEN = "a" * 64


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"SLUICE_{name.upper()}", raising=False)


def refusal(removed: dict[str, str] | None = None) -> str:
    with pytest.raises(CannotStart) as caught:
        load_settings(removed or REMOVED)
    return caught.value.detail


def test_the_environment_goes_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sluice.yaml"
    file.write_text("port: 1\nrow_limit: 7\ncatalogs: {lake: {type: sql, uri: x}}\n")
    monkeypatch.setenv("SLUICE_CONFIG_FILE", str(file))
    monkeypatch.setenv("SLUICE_PORT", "2")
    settings = load_settings()
    assert (settings.port, settings.row_limit) == (2, 7)
    assert settings.catalogs == {"lake": {"type": "sql", "uri": "x"}}


def test_folders_of_files_are_named_with_their_schema_and_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "SLUICE_PARQUET_TABLES",
        '{"logs.events": {"location": "s3a://lake/events", "partition_columns": {"day": "date"}}}',
    )
    assert load_settings().parquet_tables["logs.events"].partition_columns == {"day": "DATE"}


@pytest.mark.parametrize(
    "table",
    [
        '{"events": {"location": "/data"}}',
        '{"logs.events": {"location": "/data", "partition_columns": {"day": "DATE) USING csv"}}}',
        '{"logs.events": {}}',
    ],
)
def test_folders_of_files_cannot_be_anything(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_PARQUET_TABLES", table)
    assert "parquet_tables" in refusal()


def test_folders_of_files_are_not_entered_into_a_metastore(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_PARQUET_TABLES", '{"logs.events": {"location": "/data"}}')
    monkeypatch.setenv("SLUICE_SPARK_CONF", '{"spark.sql.catalogImplementation": "hive"}')
    assert "Hive metastore" in refusal()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.runSQLOnFiles", "true"),
        ("spark.sql.ansi.doubleQuotedIdentifiers", "true"),
        ("spark.sql.parser.escapedStringLiterals", "true"),
        ("spark.sql.parser.quotedRegexColumnNames", "true"),
        ("spark.sql.legacy.ctePrecedencePolicy", "LEGACY"),
        ("spark.sql.iceberg.executor-cache.delete-files.enabled", "true"),
        ("spark.wap.branch", "audit"),
        ("spark.wap.id", "7"),
    ],
)
def test_what_changes_the_meaning_of_texts_is_refused(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_SPARK_CONF", json.dumps({name: value}))
    assert name in refusal()


def test_what_is_so_anyway_may_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_SPARK_CONF", '{"spark.sql.caseSensitive": "False"}')
    assert load_settings().spark_conf == {"spark.sql.caseSensitive": "False"}


def test_lists_are_json_or_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_SPARK_JARS", "a.jar, b.jar")
    monkeypatch.setenv("SLUICE_SPARK_PACKAGES", '["x:y:1"]')
    settings = load_settings()
    assert (settings.spark_jars, settings.spark_packages) == (("a.jar", "b.jar"), ("x:y:1",))


def test_an_unknown_variable_is_refused_with_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_ROW_LIMITS", "1")
    assert refusal() == "There is no setting SLUICE_ROW_LIMITS. Did you mean SLUICE_ROW_LIMIT?"


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("DYNAMIC_FILTERING_COLLECT_TIMEOUT", "DYNAMIC_FILTERING_COLLECT_TIMEOUT_S"),
        ("DYNAMIC_FILTERING_CACHE_TTL", "FILTER_CACHE_TTL_S"),
        ("DYNAMIC_FILTERING_CACHE_MAX_BYTES", "FILTER_CACHE_MAX_BYTES"),
        ("INGEST_TABLE", "INGEST_TABLES"),
        ("QUERY_WROKERS", "QUERY_WORKERS"),
        ("HOTS", "HOST"),
    ],
)
def test_the_nearest_name_is_that_with_the_same_words(
    monkeypatch: pytest.MonkeyPatch, asked: str, meant: str
) -> None:
    monkeypatch.setenv(f"SLUICE_{asked}", "1")
    assert refusal().endswith(f"Did you mean SLUICE_{meant}?")


def test_what_is_like_no_setting_is_answered_with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_ZZZ", "1")
    assert refusal() == "There is no setting SLUICE_ZZZ."


def test_variables_of_clients_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_settings()
    for name in ("SLUICE_URL", "SLUICE_TOKEN", "SLUICE_PROFILE"):
        monkeypatch.setenv(name, "secret")
    assert load_settings() == before


def test_an_unknown_key_of_the_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sluice.yaml"
    file.write_text("prot: 1\n")
    monkeypatch.setenv("SLUICE_CONFIG_FILE", str(file))
    assert refusal() == "There is no setting prot. Did you mean port?"


@pytest.mark.parametrize("content", ["a: [", "- a", "\xff"])
def test_a_file_that_is_no_mapping_is_refused(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "sluice.yaml"
    file.write_bytes(content.encode("latin-1"))
    monkeypatch.setenv("SLUICE_CONFIG_FILE", str(file))
    assert "The settings file" in refusal()


def test_a_file_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_CONFIG_FILE", str(tmp_path / "none.yaml"))
    assert "cannot be read" in refusal()


def test_a_removed_setting_names_its_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_WORKERS", "1")
    message = refusal({"workers": "query_workers"})
    assert message == "The setting SLUICE_WORKERS was removed; use SLUICE_QUERY_WORKERS instead."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "70000"),
        ("CATALOGS", "{hunter2"),
        ("API_TOKENS", '{"me": "hunter2"}'),
        ("ROW_LIMIT", "2000000"),
        ("DEFAULT_CATALOG", "hill"),
        ("HOST", "0.0.0.0"),
        ("API_TOKENS", json.dumps({"a": TOKEN, "b": TOKEN})),
    ],
)
def test_a_value_that_does_not_fit_is_refused_without_showing_secrets(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"SLUICE_{name}", value)
    message = refusal()
    assert name.lower() in message.lower()
    assert "hunter2" not in message
    assert "\n" not in message


def test_tokens_or_an_explicit_word_open_the_gateway_to_other_machines() -> None:
    assert Settings(host="0.0.0.0", api_tokens={"me": TOKEN}).host == "0.0.0.0"
    assert Settings(host="0.0.0.0", allow_unauthenticated=True).host == "0.0.0.0"


@pytest.mark.parametrize(
    ("floor", "own"),
    [
        ({"maintenance_min_snapshot_age_h": 121}, "maintenance_snapshot_age_h"),
        ({"maintenance_snapshot_age_h": 23}, "maintenance_snapshot_age_h"),
        ({"maintenance_min_snapshots_kept": 2}, "maintenance_snapshots_kept"),
        ({"maintenance_min_orphan_age_h": 73}, "maintenance_orphan_age_h"),
    ],
)
def test_maintenance_of_the_operators_own_keeps_the_floors(floor: dict[str, int], own: str) -> None:
    with pytest.raises(ValueError, match=f"{own} is less than"):
        Settings.model_validate(floor)
    at_floor = {"maintenance_min_snapshot_age_h": 120, "maintenance_min_orphan_age_h": 72}
    assert Settings.model_validate(at_floor).maintenance_snapshot_age_h == 120


def test_no_secret_is_shown() -> None:
    settings = Settings.model_validate(
        {
            "api_tokens": {"me": TOKEN},
            "metrics_store_url": "postgresql://u:hunter2@db/x",
            "filter_cache_url": "redis://:hunter2@cache",
            "catalogs": {
                "lake": {
                    "uri": "postgresql://u:hunter2@db/x?a=1",
                    "s3.secret-access-key": "hunter2",
                    "credential": "hunter2",
                    "warehouse": "s3://bucket",
                }
            },
            "spark_conf": {
                "spark.hadoop.fs.s3a.secret.key": "hunter2",
                "spark.driver.extraJavaOptions": "-Dpassword=hunter2 -Da=b",
            },
        }
    )
    shown = json.dumps(masked(settings))
    assert "hunter2" not in shown
    assert TOKEN not in shown
    assert "hunter2" not in repr(settings)
    assert "hunter2" not in str(settings)
    assert masked(settings)["catalogs"]["lake"] == {
        "uri": f"postgresql://u:{MASK}@db/x?a=1",
        "s3.secret-access-key": MASK,
        "credential": MASK,
        "warehouse": "s3://bucket",
    }
    assert masked(settings)["spark_conf"]["spark.driver.extraJavaOptions"] == f"-Dpassword={MASK} -Da=b"


def test_every_setting_is_described() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SPARK_MASTER", "localhost", "'localhost' is not a Spark master, such as local[*]"),
        ("SPARK_MASTER", "local[", "is not a Spark master"),
        ("SESSION_TIME_ZONE", "Mars/Phobos", "'Mars/Phobos' is not a time zone, such as UTC"),
        ("SPARK_DRIVER_MEMORY", "lots", "'lots' is not a memory size, such as 512m or 2g"),
        ("API_TOKENS", '{"ann": "plain-token"}', "api_tokens.ann: not the SHA-256 of a token"),
        ("CATALOGS", "{lake", 'SLUICE_CATALOGS is not JSON as expected, such as {"lake"'),
        ("API_TOKENS", "ann:1", "SLUICE_API_TOKENS is not JSON as expected, such as"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_one_that_would(
    name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"SLUICE_{name}", value)
    said = refusal()
    assert words in said
    assert "plain-token" not in said
    assert "Value error" not in said
    assert "^[" not in said


def test_every_list_is_read_as_json_and_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = [name for name, field in Settings.model_fields.items() if get_origin(field.annotation) is tuple]
    assert len(lists) > 10
    for name in lists:
        values = [str(value) for value in Settings.model_fields[name].default or ["file:///a", "file:///b"]]
        for text in (json.dumps(values), ", ".join(values)):
            monkeypatch.setenv(f"SLUICE_{name.upper()}", text)
            assert [str(value) for value in getattr(load_settings(REMOVED), name)] == values
        monkeypatch.setenv(f"SLUICE_{name.upper()}", '["cut')
        assert 'write it like ["a", "b"], or like a,b' in refusal()
        monkeypatch.delenv(f"SLUICE_{name.upper()}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("SPARK_MASTER", master) for master in ("local", "local[*]", "local[2]", "local[2,3]", "yarn")),
        *(("SPARK_MASTER", master) for master in ("spark://host:7077", "k8s://https://host:443")),
        ("SPARK_MASTER", "local-cluster[2,1,1024]"),
        *(("SESSION_TIME_ZONE", zone) for zone in ("UTC", "+02:00", "GMT-3", "Europe/Rome", "America/Lima")),
    ],
)
def test_masters_and_time_zones_as_spark_knows_them_are_taken(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"SLUICE_{name}", value)
    assert getattr(load_settings(), name.lower()) == value


def test_the_embedded_catalog_stays_beside_others_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_CATALOGS", '{"prod": {"type": "rest", "uri": "https://catalog.example"}}')
    assert "set embedded_catalog to true" in refusal()
    monkeypatch.setenv("SLUICE_EMBEDDED_CATALOG", "true")
    assert load_settings().default_catalog == "lake"
    monkeypatch.setenv("SLUICE_CATALOGS", '{"lake": {"type": "rest", "uri": "https://catalog.example"}}')
    assert "has a `lake` of its own" in refusal()
