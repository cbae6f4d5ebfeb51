"""The jar of our own Java classes, compiled once from their sources and kept.

The driver and the executors load it like any other jar. A wheel may contain it; otherwise the first start
compiles it within seconds.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from service.errors.gateway_error import CannotStart
from spark_session.jars.jars import locked, spark_jars
from spark_session.jars.java_compiler import COMPILER, OPTIONS, compile_java
from spark_session.jars.pinned_jars import pinned_jars

SOURCES = Path(__file__).parent.parent / "java" / "sources"
SHIPPED = SOURCES.with_name("shipped")
"""A wheel has the compiled classes here: `make wheel`."""

_ICEBERG = "iceberg-spark-runtime"
_STAGING_PREFIX = ".compiling-"
# The time of every entry: the same sources give the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def compiled_classes(jars: Sequence[Path], into: Path, *, shipped: Path = SHIPPED) -> Path:
    """Returns the jar of our classes: the shipped one, or one that was compiled against Spark and these jars.

    It is compiled once. Several processes may do that at the same time; an interrupted one leaves nothing
    that looks compiled.

    Raises:
        CannotStart: there is no supported Java, the compiler cannot be fetched, the classes do not fit these
            jars, or the jar cannot be stored.
    """
    ready = shipped / f"{_name(())}.jar"
    if ready.is_file():
        return ready
    target = into / f"{_name(_versions(jars))}.jar"
    if target.is_file():
        return target
    compiler = pinned_jars(COMPILER, into)[0]
    try:
        with locked(into / ".lock"):
            if not target.is_file():
                _compile(compiler, (*spark_jars(), *jars), target)
    except OSError as error:
        raise CannotStart(
            f"The compiled classes cannot be kept in {into}: {error.strerror or 'it cannot be written'}; run"
            " `sluice jars` where that folder can be written, make room there, or choose another folder by"
            " SLUICE_JARS_DIR."
        ) from error
    return target


def ship_classes(jars: Sequence[Path], into: Path, *, shipped: Path = SHIPPED) -> Path:
    """Compiles the classes for a wheel, and returns the path of the jar in the checkout.

    Raises:
        CannotStart: as `compiled_classes` does.
    """
    shipped.mkdir(exist_ok=True)
    for stale in shipped.glob("*.jar"):
        stale.unlink()
    ready = shipped / f"{_name(())}.jar"
    ready.write_bytes(compiled_classes(jars, into, shipped=shipped).read_bytes())
    return ready


def _versions(jars: Sequence[Path]) -> list[str]:
    """Returns what the classes are compiled against: Spark and Iceberg, not drivers and connectors."""
    names = sorted(jar.name for jar in jars)
    runtimes = [name for name in names if _ICEBERG in name]
    return [f"pyspark {version('pyspark')}", *(runtimes or names)]


def _name(versions: Iterable[str]) -> str:
    """Returns a name for what is compiled from these sources, against these versions."""
    digest = hashlib.sha256("\n".join((*COMPILER, *OPTIONS, *versions)).encode())
    for source in _sources():
        digest.update(source.relative_to(SOURCES).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return f"sluice-classes-{digest.hexdigest()[:16]}"


def _sources() -> list[Path]:
    return sorted(SOURCES.rglob("*.java"))


def _compile(compiler: Path, class_path: Sequence[Path], target: Path) -> None:
    # Under the lock, a staging folder can only be left over from an interrupted process.
    for stale in target.parent.glob(f"{_STAGING_PREFIX}*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_STAGING_PREFIX, dir=target.parent) as staging:
        classes = Path(staging) / "classes"
        compile_java(compiler, SOURCES, class_path, classes)
        jar = Path(staging) / target.name
        with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as entries:
            for compiled in sorted(classes.rglob("*.class")):
                name = compiled.relative_to(classes).as_posix()
                entries.writestr(zipfile.ZipInfo(name, _EPOCH), compiled.read_bytes(), zipfile.ZIP_DEFLATED)
        jar.rename(target)
