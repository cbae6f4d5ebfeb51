"""The parts that `sluice doctor` tries: like the gateway's own, but beside a running gateway."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import psutil

from api.bootstrap.parts.components import Components
from api.bootstrap.parts.find_jars import jars_path
from api.bootstrap.settings import Settings
from service.adapters.clock import SystemClock
from service.adapters.embedded.embedded_valkey import URL_FILE, EmbeddedValkey
from service.adapters.examining.store_answers import ask_filter_cache
from service.errors.unavailable import FilterCacheDown
from spark_session.settings.settings import is_local

LISTING_WITHIN_S = 20.0
STOP_WITHIN_S = 10.0
DOCTORS_HEAP = "1g"


def doctor_parts(settings: Settings, stack: ExitStack) -> DoctorParts:
    """Returns parts with a folder of their own, which the stack removes."""
    scratch = Path(_scratch_below(settings.data_dir.expanduser().absolute()))
    stack.callback(_remove, scratch)
    return DoctorParts(settings=_modest(settings), stack=stack, scratch=scratch)


def _remove(scratch: Path) -> None:
    """Removes the folder, after killing processes that still write to it: a JVM that was starting, say."""
    left = [child for child in psutil.Process().children(recursive=True) if _names(child, scratch)]
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, STOP_WITHIN_S)
    shutil.rmtree(scratch, ignore_errors=True)


def _names(process: psutil.Process, folder: Path) -> bool:
    try:
        return any(str(folder) in argument for argument in process.cmdline())
    except psutil.Error:
        return False


@dataclass(frozen=True, kw_only=True)
class DoctorParts(Components):
    """Parts that leave a running gateway alone: its servers are asked, but its folders are not written to.

    Before a first start, the embedded PostgreSQL runs in `scratch`, to find out whether it can run here.
    """

    scratch: Path

    @property
    def is_first_start(self) -> bool:
        """Whether there is no embedded PostgreSQL yet."""
        return not (self._data_dir / "postgres" / "data").exists()

    def folder(self, name: str) -> Path:
        """Returns the gateway's own folder only where its data are; all others are doctor's."""
        is_own = name in ("postgres", "warehouse") and not self.is_first_start
        path = (self._data_dir if is_own else self.scratch) / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    @cached_property
    def jars_folder(self) -> Path:
        """The folder of jars, which is not created."""
        return jars_path(self.settings)

    @cached_property
    def filter_cache_url(self) -> str:
        """The URL of the operator's cache, of a running gateway's, or of one that is started in scratch."""
        if self.settings.filter_cache_url is not None:
            return self.settings.filter_cache_url.get_secret_value()
        running = next(filter(_answers, self._noted_caches()), None)
        if running is not None:
            return running
        server = EmbeddedValkey.start(self.folder("valkey"), self.settings.filter_cache_max_bytes)
        self.stack.callback(server.stop)
        return server.url

    @property
    def _data_dir(self) -> Path:
        return self.settings.data_dir.expanduser().absolute()

    def _noted_caches(self) -> Iterator[str]:
        for path in sorted((self._data_dir / "valkey").glob(f"*/{URL_FILE}")):
            try:
                yield path.read_text()
            except OSError:
                continue


def _answers(url: str) -> bool:
    try:
        ask_filter_cache(url, SystemClock())
    except (FilterCacheDown, ValueError):
        return False
    return True


def _modest(settings: Settings) -> Settings:
    """Returns settings for a small engine beside a running gateway's, and with patience for slow catalogs.

    A cluster's engine keeps its size: there, an engine of another size would be another test.
    """
    changed: dict[str, object] = {"catalog_facts_timeout_s": LISTING_WITHIN_S}
    ports = {
        name: "0" for name in ("spark.driver.port", "spark.blockManager.port") if name in settings.spark_conf
    }
    if is_local(settings.spark_master):
        changed |= {"spark_master": "local[2]", "spark_driver_memory": DOCTORS_HEAP}
    changed["spark_conf"] = settings.spark_conf | {"spark.ui.enabled": "false"} | ports
    return settings.model_copy(update=changed)


def _scratch_below(data_dir: Path) -> str:
    try:
        return tempfile.mkdtemp(prefix=".doctor-", dir=data_dir)
    except OSError:
        # The folder does not exist yet, or cannot be written to, which a check of its own reports.
        return tempfile.mkdtemp(prefix="sluice-doctor-")
