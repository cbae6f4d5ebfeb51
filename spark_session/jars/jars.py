"""The jars that the engine and the demo data need, resolved once and kept."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import quoteattr

from service.errors.gateway_error import CannotStart

JAVA_VERSIONS = (17, 21)
RESOLVE_TIMEOUT_S = 900
NO_SPACE = "no space left on device"

_STAGING_PREFIX = ".resolving-"
_MANIFEST = "manifest.json"
_MODULE = "ivy.xml"
_JAR_PATTERN = "[organisation]_[artifact]-[revision](-[classifier]).[ext]"
_ARTIFACT_TYPES = ("jar", "bundle")  # an OSGi bundle is a jar under another name
_UNREACHABLE = ("Server access error", "UnknownHostException", "Connection refused", "timed out")


def resolve(
    coordinates: Sequence[str],
    into: Path,
    ivy_settings: Path | None = None,
    *,
    with_dependencies: bool = True,
) -> tuple[Path, ...]:
    """Returns the jars of `group:artifact:version` coordinates, with or without their dependencies.

    A classifier may follow the version. A set that was resolved into this folder before is returned without
    starting a process or asking a registry. Several processes may resolve into one folder at once; an
    interrupted one leaves nothing that looks resolved. `ivy_settings` replaces Ivy's own settings, for
    example behind a mirror.

    Raises:
        CannotStart: there is no supported Java, the registry cannot be reached or lacks a jar, or the disk is
            full.
    """
    wanted = sorted(set(coordinates))
    target = _target(wanted, into, with_dependencies=with_dependencies)
    cached = _cached(target)
    if cached is not None:
        return cached
    java = check_java()
    try:
        into.mkdir(parents=True, exist_ok=True)
        with locked(into / ".lock"):
            return _cached(target) or _resolve(
                java, wanted, target, ivy_settings, with_dependencies=with_dependencies
            )
    except OSError as error:
        reason = error.strerror or "it cannot be written"
        raise CannotStart(
            f"{', '.join(wanted)} cannot be kept in {into}: {reason}; run `sluice jars` where that folder"
            " can be written, make room there, or choose another folder by SLUICE_JARS_DIR."
        ) from error


def cached_jars(
    coordinates: Sequence[str], into: Path, *, with_dependencies: bool = True
) -> tuple[Path, ...] | None:
    """Returns the answer of `resolve` if no registry is needed for it; None if it would have to fetch."""
    return _cached(_target(coordinates, into, with_dependencies=with_dependencies))


def spark_jars(pattern: str = "*.jar") -> list[Path]:
    """Returns the jars that PySpark brings, by the pattern of their names."""
    spec = importlib.util.find_spec("pyspark")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    return [jar for folder in folders for jar in sorted(Path(folder, "jars").glob(pattern))]


def check_java() -> Path:
    """Returns the Java that this environment names, by `JAVA_HOME` or else by `PATH`.

    Raises:
        CannotStart: there is none, or it is neither 17 nor 21.
    """
    return java_and_version()[0]


def java_and_version() -> tuple[Path, int]:
    """Returns the Java of this environment, and the number of its version.

    Raises:
        CannotStart: there is none, or it is neither 17 nor 21.
    """
    java = _find_java()
    cure = "install Java 17 or 21, or point JAVA_HOME to one"
    if java is None:
        raise CannotStart(f"There is no Java in JAVA_HOME or on the PATH: {cure}.")
    version = _major_version(java)
    if version not in JAVA_VERSIONS:
        found = f"Java {version}" if version else "not a Java that runs"
        raise CannotStart(f"{java} is {found}: {cure}.")
    return java, version


def _find_java() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    return Path(found) if found else None


def _major_version(java: Path) -> int | None:
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(match[1]) if match and answer.returncode == 0 else None


def _target(coordinates: Sequence[str], into: Path, *, with_dependencies: bool) -> Path:
    named = [*sorted(set(coordinates)), *([] if with_dependencies else ["and nothing else"])]
    return into / hashlib.sha256("\n".join(named).encode()).hexdigest()[:16]


def _cached(target: Path) -> tuple[Path, ...] | None:
    """Returns the jars of an earlier run, if all of them are still there at their full size."""
    try:
        sizes: dict[str, int] = json.loads((target / _MANIFEST).read_text())["bytes"]
        whole = all((target / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError):
        return None
    return tuple(target / name for name in sizes) if whole else None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lets in one process at a time; the system releases the lock when its holder dies."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _resolve(
    java: Path,
    coordinates: Sequence[str],
    target: Path,
    settings: Path | None,
    *,
    with_dependencies: bool,
) -> tuple[Path, ...]:
    # Under the lock, a staging folder can only be left over from an interrupted process.
    for stale in target.parent.glob(f"{_STAGING_PREFIX}*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_STAGING_PREFIX, dir=target.parent) as staging:
        jars = Path(staging) / "jars"
        (Path(staging) / _MODULE).write_text(_ivy_module(coordinates, with_dependencies=with_dependencies))
        _run_ivy(java, coordinates, jars, Path(staging), settings)
        names = sorted(jar.name for jar in jars.glob("*.jar"))
        sizes = {name: (jars / name).stat().st_size for name in names}
        (jars / _MANIFEST).write_text(
            json.dumps({"coordinates": list(coordinates), "bytes": sizes}, indent=1)
        )
        shutil.rmtree(target, ignore_errors=True)
        jars.rename(target)
    return tuple(target / name for name in names)


def _run_ivy(
    java: Path, coordinates: Sequence[str], jars: Path, staging: Path, settings: Path | None
) -> None:
    command = [
        *(str(java), f"-Divy.default.ivy.user.dir={staging}", f"-Djava.io.tmpdir={staging}"),
        *("-cp", str(_ivy_jar()), "org.apache.ivy.Main"),
        *(("-settings", str(settings)) if settings else ()),
        *("-ivy", str(staging / _MODULE), "-confs", "default", "-cache", str(staging / "cache")),
        *("-types", *_ARTIFACT_TYPES, "-retrieve", str(jars / _JAR_PATTERN)),
    ]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=RESOLVE_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as error:
        raise CannotStart(_unreachable(coordinates)) from error
    if ended.returncode != 0:
        raise CannotStart(_why(ended.stdout + ended.stderr, coordinates, jars.parent.parent))


def _ivy_module(coordinates: Sequence[str], *, with_dependencies: bool) -> str:
    """Returns an Ivy module that depends on these jars and, if wanted, on their runtime dependencies."""
    lines = []
    chosen = 'conf="default->default"' if with_dependencies else 'transitive="false" conf="default->master"'
    for coordinate in coordinates:
        if not re.fullmatch(r"[^:\s]+(:[^:\s]+){2,3}", coordinate):
            raise CannotStart(f"{coordinate!r} does not name a jar: write it as group:artifact:version.")
        group, artifact, version, *classifiers = map(quoteattr, coordinate.split(":"))
        chosen_jars = "".join(
            f'<artifact name={artifact} type="jar" m:classifier={classifier}/>' for classifier in classifiers
        )
        lines.append(
            f"<dependency org={group} name={artifact} rev={version} {chosen}>{chosen_jars}</dependency>"
        )
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="sluice" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{''.join(lines)}</dependencies></ivy-module>"
    )


def _ivy_jar() -> Path:
    """Ivy comes with PySpark: nothing else has to be installed to resolve jars."""
    for jar in spark_jars("ivy-*.jar"):
        return jar
    raise CannotStart("The installation of PySpark is incomplete, its Ivy is missing: reinstall pyspark.")


def _why(output: str, coordinates: Sequence[str], folder: Path) -> str:
    if NO_SPACE in output.lower():
        return f"The disk is full: make room for the jars in {folder}."
    missing = sorted(set(re.findall(r":: (\S+#\S+;\S+): not found", output)))
    if missing and not any(sign in output for sign in _UNREACHABLE):
        return f"The jar registry has no {', '.join(missing)}: check the coordinates."
    return _unreachable(coordinates)


def _unreachable(coordinates: Sequence[str]) -> str:
    return (
        f"The jar registry cannot be reached to fetch {', '.join(coordinates)}: "
        "check the network and the proxy (JAVA_TOOL_OPTIONS), then start again."
    )
