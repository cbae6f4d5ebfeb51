"""Keeping an ingest in the log: one statement, and so one transaction and one way there and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Executable, Table, bindparam, cast, select, union_all
from sqlalchemy.dialects.postgresql import insert

from service.adapters.postgres.ingest_log.ingest_tables import IngestCommitRow, IngestRow

_INGEST = "ingest_"
_COMMITS_KEPT = 64


def accepting(
    ingest: Mapping[str, object], commits: Sequence[Mapping[str, object]]
) -> tuple[Executable, dict[str, object]]:
    """A statement that gives the ingest's id once it is there with its commits, and nothing if it was before.

    With the parameters to run it with. The rows are those of `ingests` and `ingest_commits`.
    """
    names = tuple(commits[0]) if commits else ()
    parameters = {_INGEST + name: value for name, value in ingest.items()}
    for index, row in enumerate(commits):
        parameters |= {_commit(index, name): row[name] for name in names if name != "ingest_id"}
    return _statement(tuple(ingest), names, len(commits)), parameters


def _commit(index: int, name: str) -> str:
    return f"commit_{index}_{name}"


@lru_cache(_COMMITS_KEPT)
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
    # Without an ingest there are no rows to take.
    commits = insert(IngestCommitRow).from_select(list(names), union_all(*rows), include_defaults=False)
    return found.add_cte(commits.cte("commits"))


def _value(index: int, name: str) -> ColumnElement[Any]:
    table = IngestCommitRow.__table__
    assert isinstance(table, Table)
    # In a SELECT nothing else says of what type a NULL is.
    return cast(bindparam(_commit(index, name), type_=table.c[name].type), table.c[name].type)
