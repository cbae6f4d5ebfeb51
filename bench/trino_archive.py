"""The server of Trino: an archive of Maven's registry, checked and unpacked once."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from spark_session.jars.jars import check_java, locked, spark_jars

VERSION = "476"
SHA256 = "cfd5accde17e8ebd251eeeb78aed1f490e77bb3a164d95a0f454bf8a7c1cbd3f"
FETCH_WITHIN_S = 3600
ARCHIVE_VARIABLE = "SLUICE_BENCH_TRINO_ARCHIVE"
PLUGINS = ("iceberg",)
"""All that the measure needs of about fifty."""

# Without Maven's descriptions: that of Trino imports a hundred others, and nothing of them is needed here.
_SETTINGS = """<ivysettings><settings defaultResolver="registry"/>
<resolvers><ibiblio name="registry" m2compatible="true" usepoms="false"/></resolvers></ivysettings>"""
_MODULE = f"""<ivy-module version="2.0"><info organisation="sluice" module="trino"/>
<configurations><conf name="default"/></configurations>
<dependencies><dependency org="io.trino" name="trino-server" rev="{VERSION}" conf="default->default">
<artifact name="trino-server" type="tar.gz" ext="tar.gz"/></dependency></dependencies></ivy-module>"""


def trino_server(data_dir: Path) -> Path:
    """Returns the folder of the unpacked server, with the folders `lib` and `plugin`.

    The archive is the file that `SLUICE_BENCH_TRINO_ARCHIVE` names, or else it is fetched (0.8 GB) and
    removed again. Several processes may call this at once.

    Raises:
        RuntimeError: it cannot be fetched, or is not the expected one.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    target = data_dir / f"trino-server-{VERSION}"
    with locked(data_dir / ".trino.lock"):
        if not target.exists():
            with tempfile.TemporaryDirectory(prefix=".trino-", dir=data_dir) as staging:
                named = os.environ.get(ARCHIVE_VARIABLE)
                archive = Path(named) if named else _fetch(Path(staging))
                _check(archive)
                _unpack(archive, Path(staging)).rename(target)
    return target


def _fetch(staging: Path) -> Path:
    (staging / "settings.xml").write_text(_SETTINGS)
    (staging / "ivy.xml").write_text(_MODULE)
    command = [
        *(str(check_java()), f"-Djava.io.tmpdir={staging}"),
        *("-cp", str(spark_jars("ivy-*.jar")[0]), "org.apache.ivy.Main"),
        *("-settings", str(staging / "settings.xml"), "-ivy", str(staging / "ivy.xml")),
        *("-cache", str(staging / "cache"), "-types", "tar.gz", "-confs", "default"),
        *("-retrieve", str(staging / "[artifact]-[revision].[ext]")),
    ]
    fetched = subprocess.run(command, capture_output=True, text=True, check=False, timeout=FETCH_WITHIN_S)
    archive = staging / f"trino-server-{VERSION}.tar.gz"
    if fetched.returncode != 0 or not archive.exists():
        raise RuntimeError(f"Trino cannot be fetched:\n{fetched.stdout[-2000:]}")
    # Room for what is unpacked: the two are the same file twice.
    shutil.rmtree(staging / "cache", ignore_errors=True)
    return archive


def _check(archive: Path) -> None:
    with archive.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != SHA256:
        raise RuntimeError(f"{archive} is not the expected archive: its SHA-256 is {found}.")


def _unpack(archive: Path, staging: Path) -> Path:
    folder = staging / f"trino-server-{VERSION}"
    with tarfile.open(archive) as content:
        members = content.getmembers()
        # A jar of several plugins is there once; the others are links to it.
        linked = {member.linkname for member in members if member.islnk() and is_needed(member.name)}
        chosen = [member for member in members if is_needed(member.name) or member.name in linked]
        content.extractall(staging, members=chosen, filter="data")
    for plugin in (folder / "plugin").iterdir():
        if plugin.name not in PLUGINS:
            shutil.rmtree(plugin)
    return folder


def is_needed(name: str) -> bool:
    """Whether the measure needs this file of the archive.

    >>> is_needed("trino-server-476/lib/guava.jar"), is_needed("trino-server-476/plugin/iceberg/orc.jar")
    (True, True)
    >>> is_needed("trino-server-476/plugin/pinot/pinot.jar"), is_needed("trino-server-476/bin/launcher")
    (False, False)
    """
    _, *parts = name.split("/")
    return parts[:1] == ["lib"] or (parts[:1] == ["plugin"] and len(parts) > 1 and parts[1] in PLUGINS)
