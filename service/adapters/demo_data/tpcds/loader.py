"""Creates a schema of Iceberg tables from TPC-DS data, once."""

from __future__ import annotations

import errno
import fcntl
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.schema import Schema

from service.adapters.catalogs.check_unambiguous import check_unambiguous
from service.adapters.demo_data.tpcds.daily_files import append_daily_files
from service.adapters.demo_data.tpcds.generator import NO_SPACE, Generator
from service.adapters.demo_data.tpcds.preconditions import (
    SCALE_PROPERTY,
    check_request,
    loaded_tables,
    scale_text,
)
from service.adapters.demo_data.tpcds.text import read_text
from service.adapters.demo_data.tpcds.tpcds_schemas import DATE_KEYS, partition_spec, table_schemas
from service.errors.gateway_error import CallerError, CannotStart


class Step(StrEnum):
    """The current step of a table."""

    GENERATING = "GENERATING"
    WRITING = "WRITING"
    DONE = "DONE"
    SKIPPED = "SKIPPED"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a load. `rows_done` counts the rows that this load has written so far."""

    table: str
    step: Step
    tables_done: int
    tables_total: int
    rows_done: int


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The result of a load: rows by table for the tables it created, and the names of those it skipped."""

    loaded: dict[str, int]
    skipped: tuple[str, ...]


def load_tpcds(
    catalog: Catalog,
    schema: str,
    scale: float,
    tables: Sequence[str],
    jars: Sequence[Path],
    java: Path,
    work_dir: Path,
    on_progress: Callable[[Progress], None],
) -> LoadReport:
    """Loads these tables into the schema, at this scale factor (1 is about 1 GB of text).

    A table appears in the catalog together with all its rows, in one commit and with one snapshot. So a table
    that exists is complete, and is skipped. Facts have one data file for each day.

    Raises:
        CallerError: there is no such table or scale, the schema holds other data under these names, or
            another load uses `work_dir`.
        CannotStart: the disk is full, or Java does not start.
        PartDown: the generator failed.
    """
    check_request(tables, scale)
    wanted = list(dict.fromkeys(tables))
    there = loaded_tables(catalog, schema, scale)
    for table in wanted:
        if table not in there:
            check_unambiguous(catalog, schema.split("."), table)
    with _sole_use(work_dir) as folder, _disk_errors(work_dir):
        catalog.create_namespace_if_not_exists(schema)
        load = _Load(catalog, schema, scale, Generator(java, tuple(jars), folder))
        return load.run([t for t in wanted if t not in there], [t for t in wanted if t in there], on_progress)


@dataclass(frozen=True, slots=True)
class _Load:
    catalog: Catalog
    schema: str
    scale: float
    generator: Generator

    def run(
        self, missing: Sequence[str], there: Sequence[str], on_progress: Callable[[Progress], None]
    ) -> LoadReport:
        rows: dict[str, int] = {}
        total = len(missing) + len(there)

        def report(table: str, step: Step) -> None:
            on_progress(Progress(table, step, len(there) + len(rows), total, sum(rows.values())))

        for table in there:
            report(table, Step.SKIPPED)
        schemas = table_schemas()
        if missing:
            report(missing[0], Step.GENERATING)
        with closing(self.generator.texts(missing, self.scale)) as texts:
            for table, files in texts:
                report(table, Step.WRITING)
                content = read_text(files, schemas[table])
                self._write(table, schemas[table], content)
                rows[table] = content.num_rows
                report(table, Step.DONE)
        return LoadReport(rows, tuple(there))

    def _write(self, table: str, schema: Schema, rows: pa.Table) -> None:
        properties = {
            "format-version": "2",
            "write.parquet.compression-codec": "zstd",
            SCALE_PROPERTY: scale_text(self.scale),
        }
        with self.catalog.create_table_transaction(
            f"{self.schema}.{table}",
            schema,
            partition_spec=partition_spec(table, schema),
            properties=properties,
        ) as transaction:
            if table in DATE_KEYS:
                append_daily_files(transaction, rows)
            else:
                transaction.append(rows)


@contextmanager
def _sole_use(work_dir: Path) -> Iterator[Path]:
    """Yields an empty folder for text, which is emptied again at the end; one load at a time."""
    work_dir.mkdir(parents=True, exist_ok=True)
    folder = work_dir / "tpcds-text"
    with (work_dir / ".tpcds-lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CallerError("Another load of demo data is running: wait for its end.") from error
        shutil.rmtree(folder, ignore_errors=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _disk_errors(work_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC and NO_SPACE not in str(error).lower():
            raise
        raise CannotStart(
            f"The disk is full: make room in {work_dir} and in the warehouse, or ask for a smaller scale."
        ) from error
