"""The session's settings: hardening cannot be overridden, and secrets are not on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from service.adapters.catalogs.spark_catalog_properties import spark_catalog_properties
from spark_session.settings.settings import HARDENING, SparkSettings, launch_properties, spark_properties

SECRET = "s3cr3t-"
WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)
CATALOG_KEYS = st.one_of(
    st.sampled_from(["uri", "warehouse", "token", "credential", "s3.secret-access-key", "jdbc.password"]),
    st.lists(WORDS, min_size=1, max_size=3).map(".".join),
)
CATALOGS = st.dictionaries(
    WORDS.map(lambda word: f"lake_{word}"),  # no name that Spark reserves
    st.dictionaries(CATALOG_KEYS, WORDS.map(lambda word: SECRET + word), max_size=5).map(
        lambda own: {"uri": "http://catalog"} | own | {"type": "rest"}
    ),
    max_size=3,
)
OVERRIDES = st.dictionaries(
    st.sampled_from([*HARDENING, "spark.ui.enabled", "spark.sql.shuffle.partitions"]),
    st.sampled_from(["true", "false", ""]),
)


def settings_with(
    properties: Mapping[str, str] | None = None,
    catalogs: Mapping[str, str] | None = None,
    master: str = "local[2]",
) -> SparkSettings:
    return SparkSettings(
        master, ("a.jar", "b.jar"), Path("logs"), catalogs=catalogs or {}, properties=properties or {}
    )


@settings(deadline=None)
@given(OVERRIDES, OVERRIDES)
def test_nothing_overrides_the_hardening(own: dict[str, str], catalogs: dict[str, str]) -> None:
    properties = spark_properties(settings_with(own, catalogs))
    assert dict(HARDENING).items() <= properties.items()


@settings(deadline=None)
@given(CATALOGS)
def test_no_catalogs_property_stands_on_the_command_line(catalogs: dict[str, dict[str, str]]) -> None:
    spark: dict[str, str] = {}
    for name, properties in catalogs.items():
        spark |= spark_catalog_properties(name, properties)
    properties = spark_properties(settings_with(catalogs=spark))
    assert spark.items() <= properties.items()
    assert not any(SECRET in value for value in launch_properties(properties).values())


def test_an_operators_hadoop_secrets_stay_off_the_command_line_too() -> None:
    own = {"spark.hadoop.fs.s3a.secret.key": SECRET, "spark.ssl.keyPassword": SECRET}
    assert SECRET not in launch_properties(spark_properties(settings_with(own))).values()


def test_what_the_jvm_needs_before_it_starts_is_on_the_command_line() -> None:
    launched = launch_properties(spark_properties(settings_with()))
    assert launched["spark.jars"] == "a.jar,b.jar"
    assert launched["spark.master"] == "local[2]"
    assert {"spark.driver.memory", "spark.driver.extraJavaOptions", "spark.submit.deployMode"} <= set(
        launched
    )


def test_the_operators_own_properties_win_over_our_defaults() -> None:
    own = {"spark.driver.memory": "8g", "spark.sql.shuffle.partitions": "200"}
    assert own.items() <= spark_properties(settings_with(own)).items()


def test_only_local_masters_get_the_settings_of_one_machine() -> None:
    local, cluster = (
        spark_properties(settings_with(master=master)) for master in ("local[*]", "spark://master:7077")
    )
    for name in ("spark.driver.bindAddress", "spark.driver.host", "spark.sql.shuffle.partitions"):
        assert name in local
        assert name not in cluster
    # Here, Spark can end a task that ignores its kill.
    assert cluster["spark.task.reaper.enabled"] == "true"
    assert "spark.task.reaper.enabled" not in local


def test_no_setting_is_changed_by_being_read() -> None:
    own = {"spark.sql.runSQLOnFiles": "true"}
    spark_properties(settings_with(own))
    assert own == {"spark.sql.runSQLOnFiles": "true"}


def test_comet_comes_with_its_memory_and_leaves_what_the_operator_has_chosen() -> None:
    def with_comet(own: Mapping[str, str]) -> Mapping[str, str]:
        return spark_properties(replace(settings_with(own), comet_memory="3g"))

    plain = with_comet({})
    assert plain["spark.memory.offHeap.size"] == "3g"
    assert plain["spark.plugins"] == "org.apache.spark.CometPlugin"
    assert plain["spark.shuffle.manager"].endswith(".CometShuffleManager")
    own = {
        "spark.plugins": "org.example.Own",
        "spark.shuffle.manager": "org.example.Shuffles",
        "spark.comet.exec.strictFloatingPoint": "false",
        "spark.sql.caseSensitive": "true",
    }
    chosen = with_comet(own)
    assert chosen["spark.plugins"] == "org.example.Own,org.apache.spark.CometPlugin"
    assert chosen["spark.shuffle.manager"] == "org.example.Shuffles"
    assert chosen["spark.comet.shuffle.enabled"] == chosen["spark.comet.exec.strictFloatingPoint"] == "false"
    assert chosen["spark.sql.caseSensitive"] == "false"
    without = spark_properties(settings_with({}))
    assert not {"spark.plugins", "spark.shuffle.manager", "spark.memory.offHeap.size"} & without.keys()
