"""Jars whose every byte is known in advance."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from service.errors.gateway_error import CannotStart
from spark_session.jars.jars import resolve


def pinned_jars(sums: Mapping[str, str], into: Path, ivy_settings: Path | None = None) -> tuple[Path, ...]:
    """Returns exactly the jars of these coordinates, each checked against its SHA-256.

    Raises:
        CannotStart: as `resolve` does, or a jar differs from the pinned one.
    """
    jars = resolve(tuple(sums), into, ivy_settings, with_dependencies=False)
    wanted = {_file_name(coordinate): checksum for coordinate, checksum in sums.items()}
    for jar in jars:
        if wanted.get(jar.name) != _sha256(jar):
            raise CannotStart(
                f"{jar} is not the expected jar: its checksum differs. Remove {jar.parent}, then start"
                " again; if this happens again, the jar registry serves another file."
            )
    if len(jars) != len(wanted):
        raise CannotStart(f"{jars[0].parent if jars else into} lacks jars: remove it and start again.")
    return jars


def _file_name(coordinate: str) -> str:
    """Returns the file name that `resolve` gives the jar.

    >>> _file_name("org.apache.kafka:kafka-clients:3.9.1")
    'org.apache.kafka_kafka-clients-3.9.1.jar'
    """
    group, artifact, version = coordinate.split(":")
    return f"{group}_{artifact}-{version}.jar"


def _sha256(path: Path) -> str:
    with path.open("rb") as jar:
        return hashlib.file_digest(jar, "sha256").hexdigest()
