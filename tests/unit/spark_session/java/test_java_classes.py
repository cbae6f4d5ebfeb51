"""Checks our Java classes, and runs their JUnit tests in one JVM without Spark running."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree

import pytest

from spark_session.jars.compiled_classes import SOURCES
from spark_session.jars.jars import check_java, spark_jars
from spark_session.jars.java_compiler import COMPILER, OPTIONS, compile_java
from spark_session.jars.pinned_jars import pinned_jars
from tests.engine_jars import JARS, engine_jars

TESTS = Path(__file__).parents[3] / "java"
JUNIT = MappingProxyType(
    {
        "org.junit.platform:junit-platform-console-standalone:6.0.0": (
            "d2aa0758805b83c4253a3899671a58fffcad208419b5e52d6ff7cbe1b23c6297"
        )
    }
)
PATIENCE_S = 300
# Errors only here: at a start, other versions of Spark or Iceberg may cause some of them.
CHECKS = (
    *OPTIONS,
    "-err:raw,unchecked,unusedImport,unusedPrivate,unusedLocal,unusedThrown,unusedTypeArgs,allOver-ann,"
    "uselessTypeCheck,fallthrough,deadCode,semicolon,unlikelyCollectionMethodArgumentType,"
    "unlikelyEqualsArgumentType,varargsCast,suppress,warningToken",
)


def test_the_sources_have_no_warnings(tmp_path: Path) -> None:
    class_path = [*map(Path, engine_jars()), *spark_jars()]
    compile_java(pinned_jars(COMPILER, JARS)[0], SOURCES, class_path, tmp_path, options=CHECKS)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("junit")
    junit = pinned_jars(JUNIT, JARS)[0]
    class_path = [*map(Path, engine_jars()), *spark_jars(), junit]
    compile_java(pinned_jars(COMPILER, JARS)[0], TESTS, class_path, folder / "classes", options=CHECKS)
    command = [
        *(
            str(check_java()),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            ":".join(map(str, [*class_path, folder / "classes"])),
        ),
        *("org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--details=none"),
        *(f"--scan-classpath={folder / 'classes'}", f"--reports-dir={folder}"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert ended.returncode in {0, 1}, ended.stdout + ended.stderr
    return folder / "TEST-junit-jupiter.xml"


def test_every_test_in_java_passes(report: Path) -> None:
    cases = ElementTree.parse(report).getroot().findall("testcase")
    failed = {
        f"{case.get('classname')}.{case.get('name')}": "".join(fault.itertext())
        for case in cases
        for fault in (*case.findall("failure"), *case.findall("error"))
    }
    assert not failed
    classes = {case.get("classname") for case in cases}
    assert classes == {
        ".".join(source.relative_to(TESTS).with_suffix("").parts) for source in TESTS.rglob("*Test.java")
    }
