"""Generated statements that write, over the tables of `written_tables.py`."""

from __future__ import annotations

import random

from tests.equivalence.written_tables import COLUMNS, NAMESPACE


class Writes:
    """Makes statements over a table `{t}`."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def next(self) -> str:
        """Returns the next statement."""
        makers = (self._merge, self._merge, self._merge, self._delete, self._update, self._insert)
        return self._random.choice(makers)()

    def _one(self, *texts: str) -> str:
        return self._random.choice(texts)

    def _source(self) -> str:
        table = self._one("src", "src", "src", "dup", "wide", "void")
        return f"{NAMESPACE}.{table}"

    def _filter(self, name: str) -> str:
        number = self._random.randrange(9)
        return self._one(
            f"{name}op = 'u'",
            f"{name}k < {number}",
            f"{name}id % 2 = 0",
            f"{name}day > DATE'1969-12-30'",
            "1 = 1",
        )

    def _keys(self, t: str, s: str) -> str:
        return self._one(
            f"{t}k = {s}k",
            f"{t}k = {s}k",
            f"{t}k = {s}kl",
            f"{s}kt = {t}k",
            f"{t}k <=> {s}k",
            f"{t}b = {s}b",
            f"{t}name = {s}name",
            f"{t}day = {s}day",
            f"{t}day = {s}dt",
            f"CAST({t}at AS DATE) = {s}day",
            f"{t}price = {s}price",
            f"{t}k = {s}k + 1",
            f"{t}k = {s}k AND {t}name = {s}name",
            f"{t}day = {s}day AND {t}k = {s}k AND {t}id = {s}id",
            f"({t}k = {s}k OR {t}b = {s}b)",
            f"{t}k = {s}k AND {t}id > 5",
        )

    def _merge(self) -> str:
        number = self._random.randrange(9)
        source = self._one(
            f"{self._source()} AS s",
            f"{self._source()} s",
            f"(SELECT * FROM {self._source()} WHERE {self._filter('')}) s",
            f"(SELECT x.* FROM {self._source()} x JOIN {NAMESPACE}.dim d ON x.k = d.k "
            "WHERE d.kind = 'g1') AS s",
            f"(SELECT x.* FROM {self._source()} x LEFT JOIN {NAMESPACE}.dim d ON x.k = d.k AND d.k > 3) AS s",
            f"(SELECT k, max(id) AS id, max(kl) AS kl, max(kt) AS kt, max(name) AS name, max(b) AS b, "
            f"max(day) AS day, max(dt) AS dt, max(price) AS price, max(op) AS op FROM {self._source()} "
            f"WHERE {self._filter('')} GROUP BY k) AS s",
            f"(SELECT *, {number} AS z FROM {self._source()} ORDER BY id LIMIT 3) AS s",
        )
        on = self._keys("t.", "s.") + self._one("", "", f" AND {self._filter('s.')}")
        matched = self._one(
            "DELETE",
            "UPDATE SET name = s.name, price = s.price",
            "UPDATE SET t.k = s.k + 1, t.day = s.day",
            "UPDATE SET b = -t.b",
        )
        actions = [
            self._one(
                f"WHEN MATCHED THEN {matched}",
                f"WHEN MATCHED AND s.op = 'd' THEN DELETE WHEN MATCHED THEN {matched}",
                f"WHEN MATCHED AND t.id > {number} THEN {matched}",
                "",
            ),
            self._one(
                "",
                "WHEN NOT MATCHED THEN INSERT (id, k, b, name) VALUES (s.id + 900, s.k, s.b, s.name)",
                f"WHEN NOT MATCHED AND s.id > {number} THEN INSERT (id, k, day) VALUES (s.id, s.k, s.day)",
            ),
            self._one("", "", "", "WHEN NOT MATCHED BY SOURCE AND t.id % 5 = 0 THEN DELETE"),
        ]
        if not any(actions):
            actions = ["WHEN MATCHED THEN DELETE"]
        return f"MERGE INTO {{t}} t USING {source} ON {on} {' '.join(filter(None, actions))}"

    def _rows(self) -> str:
        source, keep = self._source(), self._filter("")
        return self._one(
            f"k IN (SELECT k FROM {source})",
            f"k IN (SELECT kl FROM {source} WHERE {keep})",
            f"day IN (SELECT day FROM {source} WHERE {keep}) AND id > 3",
            f"(k, name) IN (SELECT k, name FROM {source})",
            f"EXISTS (SELECT 1 FROM {source} s WHERE {self._keys('t.', 's.')} AND {self._filter('s.')})",
            f"k IN (SELECT x.k FROM {source} x JOIN {NAMESPACE}.dim d ON x.k = d.k WHERE d.kind = 'g2')",
            f"k NOT IN (SELECT kl FROM {source} WHERE {keep})",
            f"NOT EXISTS (SELECT 1 FROM {source} s WHERE t.k = s.k)",
            f"k IN (SELECT k FROM {source}) OR id = 7",
            f"k = (SELECT max(k) FROM {source})",
            f"b IN (SELECT b FROM {source} UNION ALL SELECT kl FROM {NAMESPACE}.wide WHERE id < 3)",
        )

    def _delete(self) -> str:
        return f"DELETE FROM {{t}} AS t WHERE {self._rows()}"

    def _update(self) -> str:
        change = self._one(
            "name = upper(name)", "k = k + 1", "t.b = b * 2, price = NULL", "day = date_add(day, 1)"
        )
        return f"UPDATE {{t}} t SET {change} WHERE {self._rows()}"

    def _insert(self) -> str:
        source = self._source()
        return self._one(
            f"INSERT INTO {{t}} SELECT f.id + 500, f.k, f.b, f.name, f.day, f.price, f.at FROM "
            f"{NAMESPACE}.fact f JOIN {source} s ON {self._keys('f.', 's.')} WHERE {self._filter('s.')}",
            f"INSERT INTO {{t}} (id, k) SELECT f.id, f.k FROM {NAMESPACE}.fact f WHERE f.k IN (SELECT k FROM "
            f"{source} WHERE {self._filter('')})",
            f"INSERT OVERWRITE {{t}} SELECT {COLUMNS} FROM {NAMESPACE}.fact WHERE day IN "
            f"(SELECT day FROM {source} WHERE id < 4)",
        )
