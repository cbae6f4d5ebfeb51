"""Adds an ingest to the log in one statement: one transaction, and one round trip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Executable, Table, bindparam, cast, select, union_all
from sqlalchemy.dialects.postgresql import insert

from service.adapters.postgres.ingest_log.ingest_tables import IngestCommitRow, IngestRow

_INGEST = "ingest_"
_MAX_CACHED_STATEMENTS = 64


def accepting(
    ingest: Mapping[str, object], commits: Sequence[Mapping[str, object]]
) -> tuple[Executable, dict[str, object]]:
    """Returns a statement that inserts an ingest with its commits, and the statement's parameters.

    The statement returns the ingest's id, or nothing if the ingest was there before. The rows are those of
    `ingests` and `ingest_commits`.
    """
    names = tuple(commits[0]) if commits else ()
    parameters = {_INGEST + name: value for name, value in ingest.items()}
    for index, row in enumerate(commits):
        parameters |= {_commit(index, name): row[name] for name in names if name != "ingest_id"}
    return _statement(tuple(ingest), names, len(commits)), parameters


def _commit(index: int, name: str) -> str:
    return f"commit_{index}_{name}"


@lru_cache(_MAX_CACHED_STATEMENTS)
def _statement(ingest_names: tuple[str, ...], names: tuple[str, ...], count: int) -> Executable:
    values: dict[str, ColumnElement[Any]] = {name: bindparam(_INGEST + name) for name in ingest_names}
    inserted = insert(IngestRow).values(values).on_conflict_do_nothing().returning(IngestRow.ingest_id)
    ingest = inserted.cte("ingest")
    found = select(ingest.c.ingest_id)
    if not count:
        return found
    rows = [
        select(*(ingest.c.ingest_id if name == "ingest_id" else _value(index, name) for name in names))
        for index in range(count)
    ]
    # If no ingest was inserted, there are no rows to take.
    commits = insert(IngestCommitRow).from_select(list(names), union_all(*rows), include_defaults=False)
    return found.add_cte(commits.cte("commits"))


def _value(index: int, name: str) -> ColumnElement[Any]:
    table = IngestCommitRow.__table__
    assert isinstance(table, Table)
    # In a SELECT, only a cast gives a NULL its type.
    return cast(bindparam(_commit(index, name), type_=table.c[name].type), table.c[name].type)
