"""Statements that write to one table, and the content that each must leave."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

SCHEMA = "lake.kw"
KEYS, GROUPS = 600, 7
"""The table `keys` has the ids below the first, each with one of so many groups."""
COLUMNS = ("id", "v")
_MODES = ("copy-on-write", "merge-on-read")


@dataclass(frozen=True, slots=True)
class Shape:
    """Properties of a table beside its rows."""

    is_partitioned: bool
    mode: str
    version: int

    def __str__(self) -> str:
        parts = "partitioned" if self.is_partitioned else "unpartitioned"
        return f"{parts}, {self.mode}, version {self.version}"

    @property
    def properties(self) -> Mapping[str, str]:
        """The properties that give a table its mode."""
        return {f"write.{each}.mode": self.mode for each in ("delete", "update", "merge")}


SHAPES: Sequence[Shape] = [
    Shape(is_partitioned, mode, version)
    for version in (2, 3)
    for mode in _MODES
    for is_partitioned in (False, True)
]
"""The tables that writers begin with. SQL makes none of version 3, so none of these is dropped."""


@dataclass(frozen=True, slots=True)
class Content:
    """A table: its values by their ids, and the columns that it has beside `COLUMNS`."""

    shape: Shape
    rows: Mapping[int, int]
    added: tuple[str, ...] = ()

    def listed(self) -> Listed:
        """Returns what a reader finds."""
        return sorted(self.rows.items()), [*COLUMNS, *self.added]


Listed = tuple[list[tuple[int, int]], list[str]]
"""All rows of a table in their order, and the names of its columns."""


@dataclass(frozen=True, slots=True)
class Change:
    """A statement, and the table before and after it; None: there is none.

    Without a snapshot, nobody but who looks at the catalog can know how it ended. `rows`: how many rows it
    inserts or deletes; None: its answer need not know.
    """

    kind: str
    sql: str
    before: Content | None
    after: Content | None
    has_snapshot: bool = True
    rows: int | None = None
    request_id: str = field(default_factory=lambda: str(uuid4()))

    @property
    def shape(self) -> Shape:
        """The shape of the table that it changes or makes."""
        content = self.before or self.after
        assert content is not None
        return content.shape

    @property
    def changes_nothing(self) -> bool:
        """Whether the table is the same before and after it."""
        return listed(self.before) == listed(self.after)


def listed(content: Content | None) -> Listed | None:
    """Returns what a reader finds; None: no table."""
    return None if content is None else content.listed()


class Changes:
    """Makes statements over a table. None of them leaves the same content when it runs twice."""

    def __init__(self, table: str, seed: int) -> None:
        self._table = table
        self._chance = random.Random(seed)
        self._number = 0

    def next(self, content: Content | None) -> Change:
        """Returns a statement over a table with this content."""
        self._number += 1
        if content is None:
            return self._created(None, "CREATE TABLE")
        if not content.rows:
            return self._insert(content)
        return self._chance.choice(self._makers(content))(content)

    def _makers(self, content: Content) -> Sequence[Callable[[Content], Change]]:
        often = (self._insert, self._update, self._delete, self._merge) * 3
        rare = (self._overwrite, self._replace, self._alter, self._alter)
        return (*often, *rare, *((self._drop,) * 2 if content.shape.version == 2 else ()))

    def _created(self, content: Content | None, verb: str) -> Change:
        is_partitioned, mode = self._chance.random() < 0.5, self._chance.choice(_MODES)
        # A table that is replaced keeps its version.
        shape = Shape(is_partitioned, mode, 2 if content is None else content.shape.version)
        layout = "PARTITIONED BY (bucket(3, id)) " if is_partitioned else ""
        properties = ", ".join(f"'{name}'='{value}'" for name, value in shape.properties.items())
        low, high = self._span()
        return Change(
            f"{verb} AS",
            f"{verb} {self._table} USING iceberg {layout}TBLPROPERTIES ({properties}) AS "
            f"SELECT id, {self._number}L AS v FROM range({low}, {high})",
            content,
            Content(shape, dict.fromkeys(range(low, high), self._number)),
            rows=high - low,
        )

    def _replace(self, content: Content) -> Change:
        return self._created(content, "CREATE OR REPLACE TABLE")

    def _drop(self, content: Content) -> Change:
        return Change("DROP TABLE", f"DROP TABLE {self._table}", content, None, has_snapshot=False)

    def _alter(self, content: Content) -> Change:
        if content.added and self._chance.random() < 0.4:
            name = self._chance.choice(content.added)
            added = tuple(each for each in content.added if each != name)
            sql = f"ALTER TABLE {self._table} DROP COLUMN {name}"
        else:
            name = f"c{self._number}"
            added, sql = (*content.added, name), f"ALTER TABLE {self._table} ADD COLUMN {name} STRING"
        return Change("ALTER TABLE", sql, content, replace(content, added=added), has_snapshot=False)

    def _overwrite(self, content: Content) -> Change:
        low, high = self._span()
        return Change(
            "INSERT OVERWRITE",
            f"INSERT OVERWRITE {self._table} (id, v) SELECT id, {self._number}L FROM range({low}, {high})",
            content,
            replace(content, rows=dict.fromkeys(range(low, high), self._number)),
            rows=high - low,
        )

    def _insert(self, content: Content) -> Change:
        low = max((*content.rows, KEYS)) + 1
        high = low + self._chance.randrange(1, 50)
        return Change(
            "INSERT",
            f"INSERT INTO {self._table} (id, v) SELECT id, {self._number}L FROM range({low}, {high})",
            content,
            replace(content, rows={**content.rows, **dict.fromkeys(range(low, high), self._number)}),
            rows=high - low,
        )

    def _update(self, content: Content) -> Change:
        rest = self._chance.randrange(3)
        rows = {id_: value + (id_ % 3 == rest) for id_, value in content.rows.items()}
        return Change(
            "UPDATE",
            f"UPDATE {self._table} SET v = v + 1 WHERE id % 3 = {rest}",
            content,
            replace(content, rows=rows),
        )

    def _delete(self, content: Content) -> Change:
        group = self._chance.randrange(GROUPS)
        rows = {id_: value for id_, value in content.rows.items() if id_ >= KEYS or id_ % GROUPS != group}
        return Change(
            "DELETE",
            f"DELETE FROM {self._table} WHERE id IN (SELECT id FROM {SCHEMA}.keys WHERE k = {group})",
            content,
            replace(content, rows=rows),
            rows=len(content.rows) - len(rows),
        )

    def _merge(self, content: Content) -> Change:
        group = self._chance.randrange(GROUPS)
        keys = range(group, KEYS // 2, GROUPS)
        merged = {id_: self._number for id_ in keys if id_ not in content.rows}
        for id_, value in content.rows.items():
            if id_ not in keys:
                merged[id_] = value
            elif id_ % 2:
                merged[id_] = value + 1
        return Change(
            "MERGE",
            f"MERGE INTO {self._table} t USING (SELECT id FROM {SCHEMA}.keys WHERE k = {group} AND id < "
            f"{KEYS // 2}) s ON t.id = s.id WHEN MATCHED AND s.id % 2 = 0 THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET v = t.v + 1 "
            f"WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, {self._number}L)",
            content,
            replace(content, rows=merged),
        )

    def _span(self) -> tuple[int, int]:
        low = self._chance.randrange(KEYS // 2)
        return low, low + self._chance.randrange(10, KEYS // 2)
