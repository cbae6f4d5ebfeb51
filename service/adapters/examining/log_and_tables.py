"""Compares the ingest log with the tables it was committed to: is one of them older than the other?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from uuid import UUID

from pyiceberg.exceptions import NoSuchIcebergTableError, NoSuchNamespaceError, NoSuchTableError
from pyiceberg.table.metadata import TableMetadata
from sqlalchemy import Connection, NullPool, func, select
from sqlalchemy.exc import OperationalError, ProgrammingError

from service.adapters.commits.committed_rounds import last_round
from service.adapters.postgres.ingest_log.ingest_tables import CommitRoundRow, IngestCommitRow
from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.writing import MAIN, TableKey
from service.model.operations.log_comparison import LogComparison
from service.model.tables.tables import TableName

COMPARED_AT_MOST = 50
_GONE = (NoSuchTableError, NoSuchIcebergTableError, NoSuchNamespaceError)


def compare_log(url: str, load: Callable[[TableName], TableMetadata | None]) -> LogComparison:
    """Compares the log's rounds with those recorded in the tables; changes nothing.

    Tables with waiting ingests come first, then those committed to last. `load` returns None if the table
    cannot be loaded. A gateway may commit at the same time.

    Raises:
        MetricsStoreDown: the log does not answer.
    """
    engine = store_engine(url, CONNECTION, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            return _compared(connection, load)
    except ProgrammingError:
        return LogComparison(has_log=False)
    except OperationalError as error:
        # The driver's own message holds the address.
        raise MetricsStoreDown() from error
    finally:
        engine.dispose()


def of_catalogs(
    names: Sequence[str], ask: Callable[[str, Callable[..., TableMetadata]], TableMetadata]
) -> Callable[[TableName], TableMetadata | None]:
    """Returns a function that loads tables of these catalogs through `ask`."""

    def load(name: TableName) -> TableMetadata | None:
        if name.catalog not in names:
            return None
        identifier = (*name.schema.split("."), name.table)
        with suppress(*_GONE):
            return ask(name.catalog, lambda catalog: catalog.load_table(identifier).metadata)
        return None

    return load


def _compared(connection: Connection, load: Callable[[TableName], TableMetadata | None]) -> LogComparison:
    waiting = _waiting(connection)
    last = _last_rounds(connection)
    keys = list(dict.fromkeys([*waiting, *last]))[:COMPARED_AT_MOST]
    compared = 0
    doubtful: list[str] = []
    unknown: list[str] = []
    behind: list[str] = []
    for key in keys:
        metadata = load(key.table)
        of_table = None if metadata is None else last_round(metadata, key.branch)
        if of_table is None:
            continue
        compared += 1
        if of_table == last.get(key):
            continue
        # Asked after the table, because a round is in the log before it is in the table.
        if not _is_known(connection, of_table):
            (doubtful if key in waiting else unknown).append(_spelled(key))
        elif _is_behind(connection, key, of_table):
            behind.append(_spelled(key))
    return LogComparison(compared, tuple(doubtful), tuple(unknown), tuple(behind))


def _waiting(connection: Connection) -> Sequence[TableKey]:
    row = IngestCommitRow
    key = (row.catalog, row.schema, row.table_name, row.branch)
    waits = row.snapshot_id.is_(None) & row.error_code.is_(None)
    found = connection.execute(select(*key).where(waits).distinct().limit(COMPARED_AT_MOST))
    return [_key(*row) for row in found]


def _last_rounds(connection: Connection) -> Mapping[TableKey, UUID]:
    row = CommitRoundRow
    key = (row.catalog, row.schema, row.table_name, row.branch)
    place = func.row_number().over(partition_by=key, order_by=row.ended_at.desc()).label("place")
    ended = select(*key, row.round_id, row.ended_at, place).where(row.snapshot_id.is_not(None)).subquery()
    newest = select(ended).where(ended.c.place == 1)
    statement = newest.order_by(ended.c.ended_at.desc()).limit(COMPARED_AT_MOST)
    return {_key(*row[:4]): row.round_id for row in connection.execute(statement)}


def _is_known(connection: Connection, round_id: UUID) -> bool:
    ended = select(CommitRoundRow.round_id).where(CommitRoundRow.round_id == round_id)
    given = select(IngestCommitRow.round_id).where(IngestCommitRow.round_id == round_id).limit(1)
    return any(connection.scalar(statement) is not None for statement in (ended, given))


def _is_behind(connection: Connection, key: TableKey, round_id: UUID) -> bool:
    """Whether a later round than this one has ended. It does not count a round that has not ended."""
    row = CommitRoundRow
    ended_at = select(row.ended_at).where(row.round_id == round_id).scalar_subquery()
    later = (
        select(func.count())
        .select_from(row)
        .where(
            row.catalog == key.table.catalog,
            row.schema == key.table.schema,
            row.table_name == key.table.table,
            row.branch == key.branch,
            row.snapshot_id.is_not(None),
            row.ended_at > ended_at,
        )
    )
    return bool(connection.scalar(later))


def _key(catalog: str, schema: str, table: str, branch: str) -> TableKey:
    return TableKey(TableName(catalog, schema, table), branch)


def _spelled(key: TableKey) -> str:
    return str(key.table) if key.branch == MAIN else f"{key.table}, branch {key.branch}"
