"""The jars of Iceberg's own REST catalog for tests, fetched by the Ivy that comes with PySpark.

Its published module declares no dependencies, so the smallest working set is listed here. Hadoop, Jackson,
Avro and the logging come from PySpark's own jars.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from spark_session.jars.jars import check_java

_ICEBERG = "1.11.0"
_JETTY = "12.1.5"
COORDINATES = (
    # group:artifact:version[:classifier]
    f"org.apache.iceberg:iceberg-open-api:{_ICEBERG}:test-fixtures",
    f"org.apache.iceberg:iceberg-core:{_ICEBERG}",
    f"org.apache.iceberg:iceberg-core:{_ICEBERG}:tests",
    f"org.apache.iceberg:iceberg-api:{_ICEBERG}",
    f"org.apache.iceberg:iceberg-common:{_ICEBERG}",
    f"org.apache.iceberg:iceberg-bundled-guava:{_ICEBERG}",
    "com.github.ben-manes.caffeine:caffeine:2.9.3",
    "org.apache.httpcomponents.client5:httpclient5:5.6.1",
    "org.apache.httpcomponents.core5:httpcore5:5.4",
    "org.xerial:sqlite-jdbc:3.50.3.0",
    "jakarta.servlet:jakarta.servlet-api:6.0.0",
    f"org.eclipse.jetty.ee10:jetty-ee10-servlet:{_JETTY}",
    *(f"org.eclipse.jetty:jetty-{part}:{_JETTY}" for part in ("server", "http", "io", "util")),
    *(f"org.eclipse.jetty:jetty-{part}:{_JETTY}" for part in ("security", "session")),
    *(
        f"org.eclipse.jetty.compression:jetty-compression-{part}:{_JETTY}"
        for part in ("server", "gzip", "common")
    ),
)
# These 60 MB are only for tables in an object store. The bundle must have exactly Iceberg's version.
FOR_S3 = (
    f"org.apache.iceberg:iceberg-aws:{_ICEBERG}",
    f"org.apache.iceberg:iceberg-aws-bundle:{_ICEBERG}",
    "dev.failsafe:failsafe:3.3.2",
)
_FROM_PYSPARK = ("hadoop-client-*", "slf4j-api-*", "log4j-*", "jackson-*-2*", "avro-1*", "RoaringBitmap-*")


def rest_catalog_class_path(into: Path, more: Sequence[str] = ()) -> str:
    """Fetches the jars into this folder, from Ivy's cache if they are there; returns Java's class path."""
    into.mkdir(parents=True, exist_ok=True)
    module = into / "ivy.xml"
    module.write_text(_ivy_module((*COORDINATES, *more)))
    command = [str(check_java()), "-cp", str(_ivy_jar()), "org.apache.ivy.Main"]
    target = f"{into}/[artifact]-[revision](-[classifier]).[ext]"
    fetched = subprocess.run(
        [*command, "-ivy", str(module), "-retrieve", target], capture_output=True, text=True, check=False
    )
    assert fetched.returncode == 0, fetched.stdout[-4000:]
    own = [str(path) for pattern in _FROM_PYSPARK for path in sorted(_pyspark_jars().glob(f"{pattern}.jar"))]
    return ":".join([f"{into}/*", *own])


def _ivy_jar() -> Path:
    return next(_pyspark_jars().glob("ivy-*.jar"))


def _pyspark_jars() -> Path:
    # It is found without an import, which would take longer than the whole server.
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "jars"


def _ivy_module(coordinates: Sequence[str]) -> str:
    classifiers: dict[tuple[str, str, str], list[str]] = {}
    for coordinate in coordinates:
        group, artifact, version, *classifier = coordinate.split(":")
        classifiers.setdefault((group, artifact, version), []).extend(classifier or [""])
    dependencies = "".join(_ivy_dependency(*module, found) for module, found in classifiers.items())
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="tests" module="rest-catalog"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )


def _ivy_dependency(group: str, artifact: str, version: str, classifiers: list[str]) -> str:
    artifacts = "".join(
        f'<artifact name="{artifact}" type="jar" ext="jar"'
        + (f' m:classifier="{classifier}"/>' if classifier else "/>")
        for classifier in classifiers
    )
    return (
        f'<dependency org="{group}" name="{artifact}" rev="{version}" transitive="false"'
        f' conf="default->master">{artifacts}</dependency>'
    )
