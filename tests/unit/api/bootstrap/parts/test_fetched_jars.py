"""Jars that were fetched before the first start, with a fake Java that fetches them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from api.bootstrap.parts.components import Components
from api.bootstrap.parts.find_jars import engine_jars, unfetched
from api.bootstrap.settings import Settings
from api.bootstrap.wiring.preparations import fetch_jars
from service.errors.gateway_error import CannotStart
from tests.unit.spark_session.jars.test_jars import FETCH_TWO_JARS, InstallJava, install_java, starts

__all__ = ["install_java"]


def settings_for(tmp_path: Path, **others: object) -> Settings:
    return Settings.model_validate({"jars_dir": tmp_path / "jars", "data_dir": tmp_path / "data"} | others)


def test_a_start_takes_what_was_fetched_before(tmp_path: Path, install_java: InstallJava) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    settings = settings_for(tmp_path)
    fetched = fetch_jars(settings, is_all=False)
    before = starts(tmp_path)
    with ExitStack() as stack:
        folder = Components(settings=settings, stack=stack).jars_folder
        assert engine_jars(settings, (), folder, is_reading_kafka=False) == fetched
    assert starts(tmp_path) == before
    assert {jar.name for jar in fetched} == {"one.jar", "two.jar"}
    assert not (tmp_path / "data").exists()


def test_without_a_folder_of_their_own_they_lie_with_the_data(tmp_path: Path) -> None:
    with ExitStack() as stack:
        parts = Components(settings=settings_for(tmp_path, jars_dir=None), stack=stack)
        assert parts.jars_folder == tmp_path / "data" / "jars"


def test_the_operators_own_jars_are_taken_as_they_are(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, spark_jars=["a.jar"])
    assert engine_jars(settings, (), tmp_path / "jars", is_reading_kafka=True) == (Path("a.jar"),)
    assert fetch_jars(settings, is_all=False) == (Path("a.jar"),)


COMET = "org.apache.datafusion:comet-spark-spark4.1_2.13"


def test_comets_jar_is_fetched_only_for_gateways_that_use_it(tmp_path: Path) -> None:
    def wanted(**given: object) -> list[str]:
        settings = settings_for(tmp_path, **given)
        found = unfetched(settings, (), tmp_path / "jars", is_reading_kafka=False)
        return [coordinate for coordinate in found if coordinate.startswith(COMET)]

    assert wanted() == []
    assert wanted(comet=True) == [f"{COMET}:1.2.0"]
    assert wanted(comet=True, spark_extra_packages=[f"{COMET}:1.3.0"]) == [f"{COMET}:1.3.0"]


def test_the_operators_own_jars_must_have_that_of_comet(tmp_path: Path) -> None:
    own = settings_for(tmp_path, comet=True, spark_jars=["/jars/comet-spark-spark4.1_2.13-1.2.0.jar"])
    assert len(engine_jars(own, (), tmp_path / "jars", is_reading_kafka=False)) == 1
    lacking = settings_for(tmp_path, comet=True, spark_jars=["a.jar"])
    with pytest.raises(CannotStart, match=rf"{COMET}.*spark_jars"):
        engine_jars(lacking, (), tmp_path / "jars", is_reading_kafka=False)


@pytest.mark.parametrize("warehouse", ["file:///lake", "s3://bucket/lake"])
def test_what_a_catalog_needs_is_fetched_too(
    tmp_path: Path, install_java: InstallJava, warehouse: str
) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    catalogs = {"lake": {"type": "sql", "uri": "sqlite://", "warehouse": warehouse, "s3.region": "x"}}
    packages = ["org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"]
    is_in_s3 = warehouse.startswith("s3:")
    settings = settings_for(tmp_path, catalogs=catalogs if is_in_s3 else {}, spark_packages=packages)
    fetched = fetch_jars(settings, is_all=False)
    assert len({jar.parent for jar in fetched}) == 1 + is_in_s3


def test_a_folder_that_cannot_be_written_says_how_to_fill_it(
    tmp_path: Path, install_java: InstallJava
) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    (tmp_path / "jars").write_text("")
    with pytest.raises(CannotStart, match=r"iceberg-spark-runtime.*run `sluice jars`.*SLUICE_JARS_DIR"):
        fetch_jars(settings_for(tmp_path), is_all=False)
