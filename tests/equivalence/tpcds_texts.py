"""The TPC-DS query texts in Spark's dialect, from the test jar of Spark."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

from spark_session.jars.jars import check_java
from tests.integration.rest_catalog.jars import _ivy_dependency, _ivy_jar

GROUP, ARTIFACT, VERSION, CLASSIFIER = "org.apache.spark", "spark-sql_2.13", "4.1.1", "tests"
TWICE = (14, 23, 24, 39)
NAMES = tuple(
    name
    for number in range(1, 100)
    for name in ([f"q{number}a", f"q{number}b"] if number in TWICE else [f"q{number}"])
)
# With few rows, some classes of items have no revenue, and no sale is in the evening.
_RATIO = re.compile(
    r"/\s*(sum\(sum\(\w+\)\)\s*OVER\s*\([^)]*\)|cast\(pmc AS DECIMAL\(15, ?4\)\))", re.IGNORECASE
)
_LAST_LIMIT = re.compile(r"\s+limit\s+\d+\s*;?\s*$", re.IGNORECASE)


def tpcds_texts(into: Path) -> dict[str, str]:
    """Returns each query by name, without its last LIMIT, as the choice among equal rows is arbitrary."""
    jar = into / f"{ARTIFACT}-{VERSION}-{CLASSIFIER}.jar"
    if not jar.exists():
        _fetch(into)
    with zipfile.ZipFile(jar) as archive:
        texts = {name: archive.read(f"tpcds/{name}.sql").decode() for name in NAMES}
    return {name: _with_one_answer(text) for name, text in texts.items()}


def _with_one_answer(text: str) -> str:
    text = _RATIO.sub(r"/ nullif(\1, 0)", text)
    return _LAST_LIMIT.sub("", text).strip().removesuffix(";")


def _fetch(into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    module = into / "ivy.xml"
    module.write_text(
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="tests" module="tpcds-texts"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{_ivy_dependency(GROUP, ARTIFACT, VERSION, [CLASSIFIER])}</dependencies></ivy-module>"
    )
    command = [str(check_java()), "-cp", str(_ivy_jar()), "org.apache.ivy.Main", "-ivy", str(module)]
    target = f"{into}/[artifact]-[revision](-[classifier]).[ext]"
    fetched = subprocess.run([*command, "-retrieve", target], capture_output=True, text=True, check=False)
    assert fetched.returncode == 0, fetched.stdout[-4000:]
