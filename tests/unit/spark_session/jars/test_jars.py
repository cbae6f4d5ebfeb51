"""The jar resolver, with a script in place of Java that logs its starts."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import ZipFile

import pytest

from service.errors.gateway_error import CannotStart
from spark_session.jars.jars import check_java, resolve

COORDINATES = ["org.example:one:1.0", "org.example:two:2.0"]

InstallJava = Callable[..., Path]


@pytest.fixture
def install_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallJava:
    """Installs a Java in JAVA_HOME that logs each start and runs the script `ivy` in place of Ivy."""

    def install(version: str = "17.0.15", ivy: str = "exit 1") -> Path:
        java = tmp_path / "jdk" / "bin" / "java"
        java.parent.mkdir(parents=True, exist_ok=True)
        answer = f"""if [ "$1" = "-version" ]; then echo 'openjdk version "{version}"' >&2; exit 0; fi"""
        java.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/starts"\n{answer}\n{ivy}\n')
        java.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(java.parent.parent))
        return java

    return install


FETCH_TWO_JARS = """
for last; do :; done
folder=$(dirname "$last"); mkdir -p "$folder"
echo one > "$folder/one.jar"; echo two > "$folder/two.jar"
"""


def starts(tmp_path: Path) -> list[str]:
    log = tmp_path / "starts"
    return log.read_text().splitlines() if log.exists() else []


@pytest.mark.parametrize("version", ["17.0.15", "21", "21.0.2-ea"])
def test_java_17_and_21_are_accepted(version: str, install_java: InstallJava) -> None:
    java = install_java(version)
    assert check_java() == java


@pytest.mark.parametrize(
    ("version", "named"), [("1.8.0_402", "Java 8"), ("11.0.2", "Java 11"), ("25", "Java 25")]
)
def test_another_java_is_named_with_the_cure(version: str, named: str, install_java: InstallJava) -> None:
    install_java(version)
    with pytest.raises(CannotStart, match=f"is {named}: install Java 17 or 21"):
        check_java()


def test_no_java_is_one_sentence_with_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotStart, match="There is no Java in JAVA_HOME or on the PATH: install"):
        check_java()


def test_a_java_that_does_not_run_is_refused(install_java: InstallJava) -> None:
    install_java().write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(CannotStart, match="not a Java that runs"):
        check_java()


def test_a_set_that_is_there_starts_no_process(tmp_path: Path, install_java: InstallJava) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    first = resolve(COORDINATES, tmp_path / "jars")
    before = starts(tmp_path)
    assert resolve(list(reversed(COORDINATES)), tmp_path / "jars") == first
    assert [jar.name for jar in first] == ["one.jar", "two.jar"]
    assert starts(tmp_path) == before


def test_two_at_once_fetch_the_set_once(tmp_path: Path, install_java: InstallJava) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: resolve(COORDINATES, tmp_path / "jars"), range(4)))
    assert len(set(answers)) == 1
    assert len([start for start in starts(tmp_path) if "org.apache.ivy.Main" in start]) == 1


def test_another_set_is_resolved_beside_it(tmp_path: Path, install_java: InstallJava) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    first = resolve(COORDINATES, tmp_path / "jars")
    second = resolve(COORDINATES[:1], tmp_path / "jars")
    assert not set(first) & set(second)
    assert all(jar.exists() for jar in (*first, *second))


def test_a_jar_that_was_cut_short_is_fetched_again(tmp_path: Path, install_java: InstallJava) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    jar = resolve(COORDINATES, tmp_path / "jars")[0]
    jar.write_text("")
    assert resolve(COORDINATES, tmp_path / "jars")[0].read_text() == "one\n"


def test_a_failed_resolution_leaves_nothing_that_looks_resolved(
    tmp_path: Path, install_java: InstallJava
) -> None:
    install_java(ivy=FETCH_TWO_JARS + "exit 1")
    with pytest.raises(CannotStart):
        resolve(COORDINATES, tmp_path / "jars")
    assert [path.name for path in (tmp_path / "jars").iterdir()] == [".lock"]


def test_what_an_interrupted_process_left_is_removed(tmp_path: Path, install_java: InstallJava) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    stale = tmp_path / "jars" / ".resolving-killed"
    stale.mkdir(parents=True)
    resolve(COORDINATES, tmp_path / "jars")
    assert not stale.exists()


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        (
            "Server access error at url x (java.net.ConnectException)",
            "cannot be reached to fetch org.example:one:1.0",
        ),
        (":: org.example#one;1.0: not found", "has no org.example#one;1.0: check the coordinates"),
        ("java.io.IOException: No space left on device", "The disk is full: make room"),
    ],
)
def test_what_ivy_says_becomes_one_sentence(
    output: str, sentence: str, tmp_path: Path, install_java: InstallJava
) -> None:
    install_java(ivy=f"echo '{output}'; exit 1")
    with pytest.raises(CannotStart, match=sentence) as caught:
        resolve(COORDINATES, tmp_path / "jars")
    assert "\n" not in caught.value.detail


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, install_java: InstallJava) -> None:
    install_java(ivy=FETCH_TWO_JARS)
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match="cannot be kept in"):
        resolve(COORDINATES, tmp_path / "file" / "jars")


def test_a_coordinate_of_another_shape_is_refused(tmp_path: Path, install_java: InstallJava) -> None:
    install_java()
    with pytest.raises(CannotStart, match="group:artifact:version"):
        resolve(["org.example:one"], tmp_path / "jars")


def test_a_classifier_names_another_jar_of_the_same_version(tmp_path: Path) -> None:
    publish(tmp_path / "registry", "one")
    (tmp_path / "registry" / "org" / "example" / "one" / "1.0" / "one-1.0-whole.jar").write_bytes(b"whole")
    wanted = ["org.example:one:1.0:whole"]
    [found] = resolve(wanted, tmp_path / "jars", settings_of(tmp_path), with_dependencies=False)
    assert (found.name, found.read_bytes()) == ("org.example_one-1.0-whole.jar", b"whole")


def test_what_a_jar_needs_comes_with_it(tmp_path: Path) -> None:
    publish(tmp_path / "registry", "one", needs="two")
    publish(tmp_path / "registry", "two")
    jars = resolve(["org.example:one:1.0"], tmp_path / "jars", settings_of(tmp_path))
    assert [jar.name for jar in jars] == ["org.example_one-1.0.jar", "org.example_two-1.0.jar"]
    manifest = json.loads((jars[0].parent / "manifest.json").read_text())
    assert manifest["coordinates"] == ["org.example:one:1.0"]


def settings_of(folder: Path) -> Path:
    """Writes settings of Ivy with the registry in this folder."""
    settings = folder / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="files"/><resolvers>'
        f'<ibiblio name="files" m2compatible="true" root="{(folder / "registry").as_uri()}/"/>'
        "</resolvers></ivysettings>"
    )
    return settings


def publish(registry: Path, name: str, needs: str | None = None) -> None:
    """Writes a Maven registry's files for one jar."""
    folder = registry / "org" / "example" / name / "1.0"
    folder.mkdir(parents=True)
    with ZipFile(folder / f"{name}-1.0.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    coordinate = "<groupId>org.example</groupId><artifactId>{}</artifactId><version>1.0</version>"
    dependency = f"<dependency>{coordinate.format(needs)}</dependency>" if needs else ""
    (folder / f"{name}-1.0.pom").write_text(
        f"<project><modelVersion>4.0.0</modelVersion>{coordinate.format(name)}"
        f"<dependencies>{dependency}</dependencies></project>"
    )
