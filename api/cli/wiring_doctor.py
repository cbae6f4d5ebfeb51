"""The checks of `sluice doctor`, in order, and what each of them needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.metadata import version

import migrations
from api.bootstrap.parts.components import EMBEDDED_CATALOG
from api.bootstrap.parts.find_jars import unfetched
from api.bootstrap.settings import Settings
from api.cli.doctor.clock_skew import clock_skew
from api.cli.doctor.configuration import configuration
from api.cli.doctor.folders import GIB, disk, folder, local_folders
from api.cli.doctor.listening_address import address
from api.cli.doctor.log_findings import ingest_log
from api.cli.doctor.spark_log import last_faults
from api.cli.doctor.store_findings import filter_cache, metrics_store
from api.cli.doctor.trial_query import trial_query, trial_table_query
from api.cli.doctor.versions import versions
from api.cli.part_checks import Check, Found, State, words_of
from api.cli.wiring_checks import (
    check_driver,
    issuer_checks,
    java,
    lineage_checks,
    login_checks,
    machine_checks,
    result_store_checks,
)
from api.cli.wiring_doctor_parts import DoctorParts, doctor_parts
from service.adapters.clock import SystemClock
from service.adapters.disk.synced_files import not_synced, sync_files
from service.adapters.examining.log_and_tables import compare_log, of_catalogs
from service.adapters.examining.store_answers import ask_filter_cache, ask_metrics_store
from service.adapters.examining.trial_ingest import scratch_location, trial_ingest
from service.model.operations.store_answer import StoreAnswer
from service.ports.clock import Clock

ENGINE_WITHIN_S = 300.0
SERVER_WITHIN_S = 120.0
QUERY_WITHIN_S = 120.0
CATALOG_WITHIN_S = 40.0
LOCAL_FOLDER_BYTES = 4 * GIB

ENGINE_CURE = "Correct SLUICE_SPARK_MASTER and SLUICE_SPARK_CONF, or make sure that the cluster answers."

CONFIGURATION = "configuration"
JAVA = "java"
JARS = "jars"
ADDRESS = "address"
DATA_FOLDER = "data folder"
POSTGRES = "embedded PostgreSQL"
METRICS_STORE = "metrics store"
FILTER_CACHE = "filter cache"
CLOCK = "clock"
INGEST_LOG = "ingest log"
ENGINE = "engine"
QUERY = "query"
TABLE_QUERY = "query of a table"
INGEST = "ingest"
ALWAYS = (
    *(JARS, "spark", ADDRESS, DATA_FOLDER, METRICS_STORE, FILTER_CACHE, CLOCK),
    *("catalogs", INGEST_LOG, ENGINE, QUERY, TABLE_QUERY, INGEST),
)
"""The parts that are skipped if there are no settings to try them with."""


def system_clock() -> Clock:
    """Returns the machine's own clock."""
    return SystemClock()


def doctor_checks(
    load: Callable[[], Settings], clock: Clock, stack: ExitStack, *, has_engine: bool
) -> Iterator[Check]:
    """Yields the checks in order, each after the one before was tried; `stack` stops what they start.

    They change nothing in a gateway that runs on the same folder: they ask its PostgreSQL and its Valkey, and
    do not start them again. Everything that they write is in a folder of doctor's own.
    """
    read: list[Settings] = []

    def configured() -> Found:
        settings = load()
        read.append(settings)
        return configuration(settings)

    yield Check(CONFIGURATION, configured, cure="`sluice config --describe` names every setting.")
    settings = read[0] if read else None
    yield Check("versions", partial(versions, settings), cure="Install what requirements.lock pins.")
    if settings is None:
        yield Check(JAVA, java)
        for part in ALWAYS:
            yield Check(part, lambda: "", needs=(CONFIGURATION,))
        return
    yield from _Examination(settings, clock, stack, has_engine=has_engine).checks()


@dataclass(frozen=True)
class _Examination:
    settings: Settings
    clock: Clock
    stack: ExitStack
    has_engine: bool = field(kw_only=True)
    answers: dict[str, StoreAnswer] = field(default_factory=dict)

    def checks(self) -> Iterator[Check]:
        yield from self._on_this_machine()
        yield from self._stores()
        yield from self._catalogs()
        yield from self._engine()
        yield Check(
            INGEST,
            self._ingest,
            needs=self._with_lake(
                self.settings.default_catalog, _in_pyiceberg(self.settings.default_catalog)
            ),
            within_s=CATALOG_WITHIN_S,
            cure="Let this user write, read and delete below the warehouse.",
        )

    def _on_this_machine(self) -> Iterator[Check]:
        for check in machine_checks(self.settings):
            if check.part == ADDRESS:
                yield replace(check, attempt=partial(address, self.settings, check.attempt))
            else:
                yield check
        settings, data_dir = self.settings, self.settings.data_dir.expanduser().absolute()
        results, bodies = settings.result_max_bytes, settings.ingest_max_spooled_bytes
        for name, purpose, wanted_bytes in (("results", "results", results), ("spool", "bodies", bodies)):
            attempt = partial(disk, data_dir / name, purpose, wanted_bytes=wanted_bytes)
            yield Check(f"disk for {purpose}", attempt, needs=(DATA_FOLDER,))
        for path in local_folders(settings):
            looked_at = partial(folder, path, "Spark's local files", "spark.local.dir in SLUICE_SPARK_CONF")
            attempt = partial(looked_at, wanted_bytes=LOCAL_FOLDER_BYTES)
            yield Check(f"Spark's local folder {path}", attempt)

    def _stores(self) -> Iterator[Check]:
        settings = self.settings
        if settings.metrics_store_url is None or self._has_lake:
            yield Check(POSTGRES, self._postgres, needs=(DATA_FOLDER,), within_s=SERVER_WITHIN_S)
        yield Check(
            METRICS_STORE,
            self._metrics_store,
            needs=(POSTGRES,) if settings.metrics_store_url is None else (),
            cure="Start PostgreSQL, or correct SLUICE_METRICS_STORE_URL: its host, user, password and"
            " database.",
        )
        yield Check(
            FILTER_CACHE,
            self._filter_cache,
            needs=(DATA_FOLDER,) if settings.filter_cache_url is None else (),
            within_s=SERVER_WITHIN_S if settings.filter_cache_url is None else None,
            cure="Start the Redis-protocol server, or correct SLUICE_FILTER_CACHE_URL: its host and"
            " password.",
        )
        yield Check(CLOCK, lambda: clock_skew(self.answers))
        yield from result_store_checks(settings, is_writing=True)
        yield from issuer_checks(settings)
        yield from login_checks(settings)
        yield from lineage_checks(settings)

    def _catalogs(self) -> Iterator[Check]:
        for name in self._catalog_names:
            yield Check(
                _in_pyiceberg(name),
                partial(self._catalog, name),
                needs=self._with_lake(name),
                within_s=CATALOG_WITHIN_S,
                cure="Correct the catalog's properties in SLUICE_CATALOGS, or start the catalog's server.",
            )
        catalogs = map(_in_pyiceberg, self._catalog_names)
        yield Check(INGEST_LOG, self._ingest_log, needs=(METRICS_STORE, *catalogs), within_s=CATALOG_WITHIN_S)

    def _engine(self) -> Iterator[Check]:
        for name in self._catalog_names if not self.has_engine else ():
            yield Check(_in_spark(name), partial(self._driver, name))
        if not self.has_engine:
            for part in (ENGINE, QUERY, TABLE_QUERY):
                yield Check(part, _left_out)
            return
        needs = (JAVA, JARS, *((POSTGRES,) if self._has_lake else ()))
        yield Check(ENGINE, self._start_engine, needs=needs, within_s=ENGINE_WITHIN_S, cure=ENGINE_CURE)
        for name in self._catalog_names:
            cure = "Name the jars that it needs in SLUICE_SPARK_EXTRA_PACKAGES."
            yield Check(_in_spark(name), partial(self._catalog_in_spark, name), needs=(ENGINE,), cure=cure)
        yield Check(QUERY, self._query, needs=(ENGINE,), within_s=QUERY_WITHIN_S)
        yield Check(TABLE_QUERY, self._table_query, needs=(QUERY,), within_s=QUERY_WITHIN_S)

    @property
    def _has_lake(self) -> bool:
        return self.settings.embedded_catalog or not self.settings.catalogs

    @property
    def _catalog_names(self) -> tuple[str, ...]:
        return (*((EMBEDDED_CATALOG,) if self._has_lake else ()), *self.settings.catalogs)

    def _with_lake(self, name: str, *others: str) -> tuple[str, ...]:
        is_embedded = self._has_lake and name == EMBEDDED_CATALOG
        return (*((POSTGRES,) if is_embedded else ()), *others)

    @cached_property
    def _components(self) -> DoctorParts:
        return doctor_parts(self.settings, self.stack)

    def _postgres(self) -> str:
        server = self._components.postgres
        is_scratch = self._components.is_first_start
        where = "in a temporary folder: there is no data yet" if is_scratch else "on its data"
        return f"runs {where}, port {server.port}"

    def _metrics_store(self) -> Found:
        url = self._components.metrics_store_url
        answer = self.answers[METRICS_STORE] = ask_metrics_store(url, self.clock)
        revisions = migrations.revisions(url)
        return metrics_store(
            answer,
            revisions.found,
            revisions.needed,
            is_embedded=self.settings.metrics_store_url is None,
            is_newer=revisions.is_newer,
        )

    def _filter_cache(self) -> Found:
        answer = self.answers[FILTER_CACHE] = ask_filter_cache(self._components.filter_cache_url, self.clock)
        return filter_cache(answer, self.settings.filter_cache_answer_ms)

    def _catalog(self, name: str) -> str:
        count = self._components.catalogs.ask(name, lambda catalog: len(catalog.list_namespaces()))
        return f"answers, {count} namespaces"

    def _ingest_log(self) -> Found:
        load = of_catalogs(self._catalog_names, self._components.catalogs.ask)
        return ingest_log(compare_log(self._components.metrics_store_url, load))

    def _driver(self, name: str) -> Found:
        if name in self.settings.catalogs:
            check_driver(self.settings, name)
        return _left_out()

    def _start_engine(self) -> Found:
        components = self._components
        catalogs = components.catalog_settings.values()
        is_reading_kafka = bool(self.settings.stream_kafka_servers)
        missing = unfetched(
            components.settings, catalogs, components.jars_folder, is_reading_kafka=is_reading_kafka
        )
        if missing and not self.settings.spark_jars:
            return Found(
                "Its jars are missing, and this command does not fetch them.",
                State.SKIPPED,
                "Run `sluice jars`.",
            )
        try:
            slots = components.engine.slots
        except Exception as failure:  # noqa: BLE001 -- Spark fails in its own ways, and its log says why
            cause = words_of(failure)
            return Found(
                " ".join((cause, *last_faults(components.folder("logs")))), State.FAILED, ENGINE_CURE
            )
        where = f"{components.settings.spark_master}, {slots} tasks at once"
        return Found(f"Spark {version('pyspark')} on {where}, is warm")

    def _catalog_in_spark(self, name: str) -> Found:
        fault = self._components.engine.catalog_faults().get(name)
        if fault is None:
            return Found("opened, lists its namespaces")
        cure = "Name the jars that it needs in SLUICE_SPARK_EXTRA_PACKAGES, or correct its properties."
        return Found(fault, State.FAILED, cure)

    def _query(self) -> str:
        return trial_query(self._components.engine, QUERY_WITHIN_S)

    def _table_query(self) -> Found:
        components = self._components
        return trial_table_query(
            components.engine, components.catalogs, components.engine.catalog_faults(), QUERY_WITHIN_S
        )

    def _ingest(self) -> Found:
        components, name = self._components, self.settings.default_catalog
        catalog = components.catalogs.pyiceberg(name)
        location = components.catalogs.ask(
            name, lambda it: scratch_location(it, components.catalog_settings[name])
        )
        if location is None:
            return Found("The catalog names no location where a file could be written.", State.SKIPPED)
        sync = sync_files if self.settings.ingest_fsync else not_synced
        byte_count = trial_ingest(catalog, location, sync)
        return Found(
            f"wrote, read and deleted a Parquet file of {byte_count} bytes in the warehouse of {name}"
        )


def _left_out() -> Found:
    return Found("It needs Spark, which --no-engine leaves out.", State.SKIPPED)


def _in_pyiceberg(name: str) -> str:
    return f"catalog {name} in PyIceberg"


def _in_spark(name: str) -> str:
    return f"catalog {name} in Spark"
