"""Statements that write to one table, and the rows that each must leave."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import uuid4

SCHEMA = "lake.kw"
KEYS, GROUPS = 600, 7
"""The table `keys` has the ids below the first, each with one of so many groups."""

Rows = Mapping[int, int]
"""The values of a table by their ids."""


@dataclass(frozen=True, slots=True)
class Change:
    """A statement, and the rows before and after it; None: there is no table.

    Without a snapshot, nobody but who looks at the catalog can know how it ended.
    """

    sql: str
    before: Rows | None
    after: Rows | None
    has_snapshot: bool = True
    request_id: str = field(default_factory=lambda: str(uuid4()))


class Changes:
    """Makes statements over a table. None of them leaves the same rows when it runs twice."""

    def __init__(self, table: str, seed: int) -> None:
        self._table = table
        self._chance = random.Random(seed)
        self._number = 0

    def next(self, rows: Rows | None) -> Change:
        """Returns a statement over a table with these rows."""
        self._number += 1
        if rows is None:
            return self._created(None, "CREATE TABLE")
        makers = (self._insert, self._insert, self._update, self._delete, self._merge, self._merge)
        rare = (self._overwrite, self._replace, self._drop)
        return self._chance.choice(makers * 2 + rare)(rows)

    def _created(self, rows: Rows | None, verb: str) -> Change:
        mode = self._chance.choice(("copy-on-write", "merge-on-read"))
        layout = self._chance.choice(("", "PARTITIONED BY (bucket(3, id)) "))
        properties = ", ".join(f"'write.{each}.mode'='{mode}'" for each in ("delete", "update", "merge"))
        low, high = self._span()
        return Change(
            f"{verb} {self._table} USING iceberg {layout}TBLPROPERTIES ({properties}) AS "
            f"SELECT id, {self._number}L AS v FROM range({low}, {high})",
            rows,
            dict.fromkeys(range(low, high), self._number),
        )

    def _replace(self, rows: Rows) -> Change:
        return self._created(rows, "CREATE OR REPLACE TABLE")

    def _drop(self, rows: Rows) -> Change:
        return Change(f"DROP TABLE {self._table}", rows, None, has_snapshot=False)

    def _overwrite(self, rows: Rows) -> Change:
        low, high = self._span()
        return Change(
            f"INSERT OVERWRITE {self._table} SELECT id, {self._number}L FROM range({low}, {high})",
            rows,
            dict.fromkeys(range(low, high), self._number),
        )

    def _insert(self, rows: Rows) -> Change:
        low = max((*rows, KEYS)) + 1
        high = low + self._chance.randrange(1, 50)
        return Change(
            f"INSERT INTO {self._table} SELECT id, {self._number}L FROM range({low}, {high})",
            rows,
            {**rows, **dict.fromkeys(range(low, high), self._number)},
        )

    def _update(self, rows: Rows) -> Change:
        rest = self._chance.randrange(3)
        return Change(
            f"UPDATE {self._table} SET v = v + 1 WHERE id % 3 = {rest}",
            rows,
            {id_: value + (id_ % 3 == rest) for id_, value in rows.items()},
        )

    def _delete(self, rows: Rows) -> Change:
        group = self._chance.randrange(GROUPS)
        return Change(
            f"DELETE FROM {self._table} WHERE id IN (SELECT id FROM {SCHEMA}.keys WHERE k = {group})",
            rows,
            {id_: value for id_, value in rows.items() if id_ >= KEYS or id_ % GROUPS != group},
        )

    def _merge(self, rows: Rows) -> Change:
        group = self._chance.randrange(GROUPS)
        keys = range(group, KEYS // 2, GROUPS)
        merged = {id_: self._number for id_ in keys if id_ not in rows}
        for id_, value in rows.items():
            if id_ not in keys:
                merged[id_] = value
            elif id_ % 2:
                merged[id_] = value + 1
        return Change(
            f"MERGE INTO {self._table} t USING (SELECT id FROM {SCHEMA}.keys WHERE k = {group} AND id < "
            f"{KEYS // 2}) s ON t.id = s.id WHEN MATCHED AND s.id % 2 = 0 THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET v = t.v + 1 "
            f"WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, {self._number}L)",
            rows,
            merged,
        )

    def _span(self) -> tuple[int, int]:
        low = self._chance.randrange(KEYS // 2)
        return low, low + self._chance.randrange(10, KEYS // 2)
