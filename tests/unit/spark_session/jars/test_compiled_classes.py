"""The jar of our own Java classes: compiled once, the same everywhere, and never half there."""

from __future__ import annotations

import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.errors.gateway_error import CannotStart
from spark_session.jars.compiled_classes import SOURCES, compiled_classes, ship_classes
from spark_session.jars.jars import resolve
from spark_session.jars.java_compiler import COMPILER, compile_java
from spark_session.jars.pinned_jars import pinned_jars
from tests.engine_jars import ICEBERG, JARS
from tests.unit.spark_session.jars.test_jars import InstallJava, install_java, starts

__all__ = ["install_java"]


@pytest.fixture(scope="module")
def iceberg() -> tuple[Path, ...]:
    return resolve([ICEBERG], JARS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of jars that has the compiler."""
    folder = tmp_path_factory.mktemp("jars")
    compiler = pinned_jars(COMPILER, JARS)[0].parent
    (folder / compiler.name).symlink_to(compiler)
    return folder


@pytest.fixture(scope="module")
def compiled(folder: Path, iceberg: tuple[Path, ...]) -> Path:
    """The jar, after an earlier process was interrupted, and two have compiled it at once."""
    (folder / ".compiling-interrupted").mkdir()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: compiled_classes(iceberg, folder), range(2))
    assert first == second
    return first


def test_the_jar_has_the_classes_of_all_sources(compiled: Path) -> None:
    with zipfile.ZipFile(compiled) as jar:
        names = set(jar.namelist())
    assert {
        source.relative_to(SOURCES).with_suffix(".class").as_posix() for source in SOURCES.rglob("*.java")
    } <= names


def test_nothing_else_is_left(compiled: Path) -> None:
    assert not list(compiled.parent.glob(".compiling-*"))
    assert list(compiled.parent.glob("sluice-classes-*")) == [compiled]


def test_it_is_compiled_once(
    compiled: Path, folder: Path, iceberg: tuple[Path, ...], tmp_path: Path, install_java: InstallJava
) -> None:
    install_java()
    assert compiled_classes(iceberg, folder) == compiled
    assert starts(tmp_path) == []


def test_drivers_and_connectors_do_not_matter_but_icebergs_version_does(
    compiled: Path, folder: Path, iceberg: tuple[Path, ...], install_java: InstallJava
) -> None:
    install_java()
    others = (Path("postgresql-42.jar"), Path("org.apache.iceberg_iceberg-aws-bundle-1.12.0.jar"))
    assert compiled_classes((*iceberg, *others), folder) == compiled
    with pytest.raises(CannotStart, match="cannot be compiled against the jars"):
        compiled_classes((Path("org.apache.iceberg_iceberg-spark-runtime-4.1_2.13-9.9.9.jar"),), folder)


def test_a_shipped_jar_has_the_same_bytes_and_is_taken_with_any_jars(
    compiled: Path, folder: Path, iceberg: tuple[Path, ...], tmp_path: Path
) -> None:
    (tmp_path / "stale.jar").write_text("")
    ready = ship_classes(iceberg, folder, shipped=tmp_path)
    assert list(tmp_path.iterdir()) == [ready]
    assert ready.read_bytes() == compiled.read_bytes()
    assert compiled_classes((Path("own.jar"),), tmp_path / "nowhere", shipped=tmp_path) == ready


def test_sources_that_do_not_fit_say_where(tmp_path: Path) -> None:
    (tmp_path / "A.java").write_text("class A {\n    int a = b();\n}\n")
    with pytest.raises(
        CannotStart, match=r"ERROR in \S*A\.java \(at line 2\): The method b\(\) is undefined"
    ):
        compile_java(pinned_jars(COMPILER, JARS)[0], tmp_path, (), tmp_path / "classes")


def test_a_folder_that_cannot_be_written_says_what_to_do(tmp_path: Path, iceberg: tuple[Path, ...]) -> None:
    (tmp_path / "jars").write_text("")
    with pytest.raises(CannotStart, match=r"run `sluice jars`.*SLUICE_JARS_DIR"):
        compiled_classes(iceberg, tmp_path / "jars")


@pytest.mark.parametrize("options", ["-XX:+UseParallelGC", "-XX:+UseZGC", "-Xms4g"])
@pytest.mark.parametrize("variable", ["JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"])
def test_the_options_of_the_driver_are_not_those_of_the_compiler(
    variable: str, options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "sources" / "A.java"
    source.parent.mkdir()
    source.write_text("class A {}")
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    monkeypatch.setenv(variable, options)
    compile_java(pinned_jars(COMPILER, JARS)[0], source.parent, (), tmp_path / "classes")
    assert (tmp_path / "classes" / "A.class").exists()
