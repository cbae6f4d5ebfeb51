"""Pinned jars, from a registry on disk."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import spark_session
from service.errors.gateway_error import CannotStart
from spark_session.jars.kafka_jars import CONNECTOR, KAFKA_JARS
from spark_session.jars.pinned_jars import pinned_jars
from tests.unit.spark_session.jars.test_jars import publish

ONE = "org.example:one:1.0"


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """Ivy's settings for a registry in which `one` needs `two`."""
    publish(tmp_path / "registry", "one", needs="two")
    publish(tmp_path / "registry", "two")
    settings = tmp_path / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="files"/><resolvers>'
        f'<ibiblio name="files" m2compatible="true" root="{(tmp_path / "registry").as_uri()}/"/>'
        "</resolvers></ivysettings>"
    )
    return settings


def test_a_jar_that_is_the_one_comes_alone(tmp_path: Path, registry: Path) -> None:
    jar = tmp_path / "registry" / "org" / "example" / "one" / "1.0" / "one-1.0.jar"
    sums = {ONE: hashlib.sha256(jar.read_bytes()).hexdigest()}
    [found] = pinned_jars(sums, tmp_path / "jars", registry)
    assert found.name == "org.example_one-1.0.jar"
    found.write_bytes(found.read_bytes()[::-1])
    with pytest.raises(CannotStart, match="checksum differs"):
        pinned_jars(sums, tmp_path / "jars", registry)


def test_another_jar_is_refused(tmp_path: Path, registry: Path) -> None:
    with pytest.raises(CannotStart, match=r"one-1\.0\.jar is not the expected jar"):
        pinned_jars({ONE: "0" * 64}, tmp_path / "jars", registry)


def test_the_connector_is_of_the_spark_that_is_locked() -> None:
    lock = Path(spark_session.__file__).parents[1] / "requirements.lock"
    [spark] = [line.split()[0] for line in lock.read_text().splitlines() if line.startswith("pyspark==")]
    minor = ".".join(spark.removeprefix("pyspark==").split(".")[:2])
    assert any(jar.startswith(f"{CONNECTOR}:{minor}.") for jar in KAFKA_JARS)
