"""The demo's lakehouse, shared by all measures; all other data of a gateway is separate from the demo's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from service.adapters.embedded.embedded_postgres import EmbeddedPostgres


@dataclass(frozen=True, slots=True)
class Lake:
    """The data directory of a measure's gateway, and the catalog with the demo's tables."""

    data_dir: Path
    catalogs: Mapping[str, Mapping[str, str]]

    def environment(self) -> dict[str, str]:
        """Returns the environment of a gateway process on the demo's tables."""
        catalogs = orjson.dumps(self.catalogs).decode()
        return clean_environment(self.data_dir) | {"SLUICE_CATALOGS": catalogs}


def clean_environment(data_dir: Path) -> dict[str, str]:
    """Returns this process's environment without gateway settings, so that the defaults are measured."""
    inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith("SLUICE_")}
    return inherited | {"SLUICE_DATA_DIR": str(data_dir), "SLUICE_PORT": "0"}


@contextmanager
def open_lake() -> Iterator[Lake]:
    """Loads the demo's tables if they are missing, and keeps their catalog open."""
    home = Path(os.environ.get("SLUICE_DATA_DIR", ".sluice")).absolute()
    subprocess.run([sys.executable, "-m", "api.cli", "demo-data"], env=clean_environment(home), check=True)
    share_jars(home, home / "bench")
    postgres = EmbeddedPostgres.start(home / "postgres")
    try:
        uri, warehouse = postgres.url("lake"), (home / "warehouse").as_uri()
        yield Lake(home / "bench", {"lake": {"type": "sql", "uri": uri, "warehouse": warehouse}})
    finally:
        postgres.stop()


def share_jars(source: Path, target: Path) -> None:
    """Links existing jars, so that no measure waits for a registry."""
    if (source / "jars").is_dir():
        shutil.copytree(source / "jars", target / "jars", copy_function=_link, dirs_exist_ok=True)


def _link(source: str, target: str) -> None:
    if not Path(target).exists():
        os.link(source, target)
