"""Statements that write as people spell them: other types of keys, parameters, windows, all clauses."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.query.query import Parameter, Parameters
from tests.equivalence.generated_writes import Writes
from tests.equivalence.written_tables import COLUMNS, NAMESPACE


@dataclass(frozen=True, slots=True)
class Generated:
    """A statement over a table `{t}`, which may make a table `{n}`, and its parameters."""

    text: str
    parameters: Parameters = ()


class MoreWrites(Writes):
    """Makes the statements of `Writes`, and as many others."""

    def generated(self) -> Generated:
        """Returns the next statement."""
        if self._random.random() < 0.4:
            return Generated(self.next())
        makers = (
            self._odd_merge,
            self._odd_merge,
            self._latest_merge,
            self._synchronized,
            self._odd_rows,
            self._odd_rows,
            self._plain,
            self._with_parameters,
            self._with_parameters,
            self._created,
            self._spelled,
        )
        found = self._random.choice(makers)()
        return found if isinstance(found, Generated) else Generated(found)

    def _odd_keys(self, t: str, s: str) -> str:
        return self._one(
            f"{t}k = {s}kd",
            f"{t}k = {s}kn",
            f"{t}k = {s}ks",
            f"{s}kl = {t}k",
            f"{t}k = {s}kh",
            f"{t}b = {s}kd",
            f"{t}b = {s}ks",
            f"{t}price = {s}kn",
            f"{t}price = {s}kd",
            f"{t}price = {s}kh",
            f"{t}at = {s}at",
            f"{t}at = {s}ntz",
            f"{t}day = {s}at",
            f"{t}day = {s}ntz",
            f"{t}day = CAST({s}at AS DATE)",
            f"{t}day BETWEEN CAST({s}at AS DATE) AND DATE'1970-01-03'",
            f"date_trunc('DAY', {t}at) = {s}at",
            f"lower({t}name) = lower({s}name)",
            f"{t}name = {s}name",
            f"{t}name LIKE concat({s}name, '%')",
            f"CAST({t}k AS STRING) = {s}ks",
            f"coalesce({t}k, -1) = {s}kh",
            f"{t}k = {s}kl AND {t}price = {s}kn",
            f"{t}k + {s}kh = 8",
            f"{t}k >= {s}kh AND {t}k < {s}kh + 2 AND {t}id = {s}id",
            f"{t}k = {s}kl AND {t}day IS NOT NULL",
            f"({t}k = {s}kl) = true",
            f"NOT ({t}k <> {s}kl)",
        )

    def _odd_merge(self) -> str:
        odd = f"{NAMESPACE}.odd"
        source = self._one(f"{odd} s", f"{odd} AS s", f"(SELECT * FROM {odd} WHERE id > 1) s")
        keys = self._odd_keys("t.", "s.")
        if self._random.random() < 0.25:
            source, keys = f"{NAMESPACE}.many s", self._one("t.k = s.k", "t.b = s.b", "t.name = s.name")
        actions = self._one(
            "WHEN MATCHED THEN DELETE",
            "WHEN MATCHED THEN UPDATE SET b = s.id",
            "WHEN MATCHED AND t.b > 0 THEN UPDATE SET name = 'x' WHEN MATCHED THEN DELETE",
            "WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id + 700, s.name)",
            "WHEN MATCHED THEN UPDATE SET b = s.id "
            "WHEN NOT MATCHED BY TARGET THEN INSERT (id, name) VALUES (s.id + 700, s.name)",
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.k = 2 THEN UPDATE SET b = 0",
        )
        return f"MERGE INTO {{t}} t USING {source} ON {keys} {actions}"

    def _latest_merge(self) -> str:
        """The last change of each key, as change data is merged."""
        source, number = self._source(), self._random.randrange(9)
        order = self._one("id DESC", "id", "b DESC, id DESC")
        latest = self._one(
            f"(SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY {order}) AS place "
            f"FROM {source}) WHERE place = 1) s",
            f"(SELECT * FROM {source} QUALIFY row_number() OVER (PARTITION BY k ORDER BY {order}) = 1) AS s",
            f"(SELECT DISTINCT k, b, name, op, day, id FROM {source} WHERE id < {number}) s",
            f"(SELECT a.* FROM {source} a LEFT SEMI JOIN {NAMESPACE}.dim d ON a.k = d.k AND d.kind = 'g0') s",
            f"(SELECT a.* FROM {source} a LEFT ANTI JOIN {NAMESPACE}.dim d ON a.k = d.k AND d.kind = 'g0') s",
            f"(SELECT * FROM {source} UNION ALL SELECT * FROM {NAMESPACE}.src WHERE id = 3) s",
            f"(SELECT * FROM {source} EXCEPT SELECT * FROM {NAMESPACE}.src WHERE id < {number}) s",
            "(SELECT * FROM VALUES (1, 4L, 'n4', 'u'), (3, 8L, 'n8', 'd'), (NULL, 9L, NULL, 'u') "
            "AS v(k, b, name, op)) AS s",
            f"(SELECT explode(array(1, 3, {number})) AS k, 4L AS b, 'n4' AS name, 'u' AS op) s",
            f"(SELECT max(k) AS k, max(b) AS b, max(name) AS name, max(op) AS op FROM {source}) s",
        )
        keys = self._one("t.k = s.k", "t.k = s.k AND t.id > 4", "s.k = t.k AND t.b >= s.b", "t.k <=> s.k")
        return (
            f"MERGE INTO {{t}} AS t USING {latest} ON {keys} "
            "WHEN MATCHED AND s.op = 'd' THEN DELETE WHEN MATCHED THEN UPDATE SET b = s.b, name = s.name "
            "WHEN NOT MATCHED THEN INSERT (k, b, name) VALUES (s.k, s.b, s.name)"
        )

    def _synchronized(self) -> str:
        """The target becomes what the source is, or a part of it does."""
        number = self._random.randrange(12)
        source = f"(SELECT {COLUMNS} FROM {NAMESPACE}.fact WHERE id % 4 = 0 AND k < {number}) s"
        actions = self._one(
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT * "
            "WHEN NOT MATCHED BY SOURCE THEN DELETE",
            "WHEN NOT MATCHED THEN INSERT *",
            f"WHEN NOT MATCHED BY SOURCE AND t.k > {number} THEN UPDATE SET price = 0.25",
            "WHEN NOT MATCHED BY SOURCE THEN DELETE",
        )
        keys = self._one("t.id = s.id", "t.id = s.id AND t.k = s.k", "t.k = s.k AND t.id = s.id AND s.k > 2")
        return f"MERGE INTO {{t}} t USING {source} ON {keys} {actions}"

    def _odd_rows(self) -> str:
        odd = f"{NAMESPACE}.odd"
        rows = self._one(
            f"k IN (SELECT kl FROM {odd})",
            f"k IN (SELECT kd FROM {odd} WHERE id < 3)",
            f"price IN (SELECT kn FROM {odd})",
            f"name IN (SELECT name FROM {odd})",
            f"b IN (SELECT b FROM {NAMESPACE}.many)",
            f"k IN (SELECT k FROM {NAMESPACE}.many WHERE k > 0)",
            f"day IN (SELECT CAST(at AS DATE) FROM {odd})",
            f"at IN (SELECT at FROM {odd})",
            f"EXISTS (SELECT 1 FROM {odd} o WHERE {self._odd_keys('t.', 'o.')})",
            f"EXISTS (SELECT * FROM {odd} o JOIN {NAMESPACE}.src s ON o.kl = s.kl WHERE s.k = t.k)",
            f"NOT EXISTS (SELECT 1 FROM {odd} o WHERE o.kl = t.k)",
            f"k NOT IN (SELECT kl FROM {odd})",
            f"NOT (k IN (SELECT kl FROM {odd}))",
            f"(k IN (SELECT kl FROM {odd})) IS NOT TRUE",
            f"CASE WHEN k IN (SELECT kh FROM {odd}) THEN id > 5 ELSE id < 5 END",
            f"k IN (SELECT kh FROM {odd}) AND day IN (SELECT day FROM {NAMESPACE}.src) AND b > 0",
            f"k > (SELECT avg(kh) FROM {odd})",
            f"k = (SELECT max(kh) FROM {odd} o WHERE o.id = t.id)",
            f"k IN (SELECT DISTINCT kh FROM {odd} ORDER BY kh LIMIT 3)",
            f"k IN (SELECT kh FROM {odd} WHERE kh IN (SELECT k FROM {NAMESPACE}.src))",
            f"k IN (SELECT s.k FROM {odd} o FULL JOIN {NAMESPACE}.src s ON o.kl = s.kl)",
            f"(k, b) IN (SELECT k, b FROM {NAMESPACE}.many)",
            f"(k, day) IN (SELECT k, day FROM {NAMESPACE}.src EXCEPT SELECT k, day FROM {NAMESPACE}.void)",
            f"k + 1 IN (SELECT kh FROM {odd})",
        )
        return self._one(
            f"DELETE FROM {{t}} t WHERE {rows}",
            f"UPDATE {{t}} AS t SET b = b + 1000 WHERE {rows}",
            f"UPDATE {{t}} t SET t.k = t.k + 1, name = concat(name, '!') WHERE {rows}",
            f"UPDATE {{t}} t SET day = NULL, at = NULL WHERE t.id > 2 AND {rows}",
            f"UPDATE {{t}} t SET b = DEFAULT WHERE {rows}",
        )

    def _plain(self) -> str:
        """Statements without a join."""
        number = self._random.randrange(12)
        return self._one(
            f"DELETE FROM {{t}} WHERE k = {number}",
            f"DELETE FROM {{t}} WHERE day = DATE'1970-01-02' AND k = {number}",
            f"DELETE FROM {{t}} WHERE name LIKE 'n{number}%'",
            f"UPDATE {{t}} SET price = price + 1 WHERE k < {number}",
            "UPDATE {t} SET name = upper(name)",
            f"INSERT INTO {{t}} (id, k, name) VALUES (801, {number}, 'v'), (802, NULL, NULL)",
            f"INSERT INTO {{t}} BY NAME SELECT k, id + 600 AS id FROM {self._source()} WHERE id < 40",
            f"INSERT INTO {{t}} ({COLUMNS}) SELECT {COLUMNS} FROM {NAMESPACE}.fact WHERE k = {number}",
            f"WITH x AS (SELECT k FROM {self._source()}) INSERT INTO {{t}} (id, k) SELECT 1, k FROM x "
            "WHERE k < 9",
            f"INSERT INTO {{t}} (id, k) WITH x AS (SELECT k FROM {NAMESPACE}.dim WHERE kind = 'g1') "
            f"SELECT f.id, f.k FROM {NAMESPACE}.fact f JOIN x ON f.k = x.k",
        )

    def _with_parameters(self) -> Generated:
        number = self._random.randrange(9)
        source = self._source()
        named = {"number": Parameter(number), "op": Parameter("u"), "day": Parameter("1970-01-01", "DATE")}
        text = self._one(
            f"MERGE INTO {{t}} t USING (SELECT * FROM {source} WHERE op = :op AND id > :number) s "
            "ON t.k = s.k AND t.day <= :day WHEN MATCHED THEN UPDATE SET b = :number",
            f"DELETE FROM {{t}} WHERE id > :number AND k IN (SELECT k FROM {source} WHERE op = :op) "
            "AND day < :day",
            f"UPDATE {{t}} SET name = :op, day = :day WHERE k IN (SELECT k FROM {source} WHERE k > :number)",
            f"INSERT INTO {{t}} (id, k, name, day) SELECT :number, f.k, :op, :day FROM {NAMESPACE}.fact f "
            f"JOIN {source} s ON f.k = s.k WHERE s.k = :number",
        )
        placed = self._one(
            f"MERGE INTO {{t}} t USING (SELECT * FROM {source} WHERE op = ? AND id > ?) s ON t.k = s.k "
            "AND t.day <= ? WHEN MATCHED THEN DELETE",
            f"DELETE FROM {{t}} WHERE name <> ? AND k IN (SELECT k FROM {source} WHERE id > ?) AND day < ?",
            f"UPDATE {{t}} SET name = ? WHERE k IN (SELECT k FROM {source} WHERE k > ?) AND day = ?",
        )
        if self._random.random() < 0.5:
            return Generated(text, named)
        return Generated(placed, (named["op"], named["number"], named["day"]))

    def _created(self) -> str:
        """A new table, of the rows that a query finds."""
        source = self._source()
        query = self._one(
            f"SELECT f.* FROM {{t}} f JOIN {source} s ON {self._keys('f.', 's.')} WHERE {self._filter('s.')}",
            f"SELECT f.id, f.k, s.name FROM {NAMESPACE}.fact f JOIN {source} s ON f.k = s.k",
            f"SELECT f.k, count(*) AS n FROM {{t}} f WHERE f.k IN (SELECT k FROM {source}) GROUP BY f.k",
            f"SELECT f.id, d.kind FROM {{t}} f LEFT JOIN {NAMESPACE}.dim d ON f.k = d.k AND d.kind = 'g1'",
            f"SELECT f.id, o.kd FROM {{t}} f JOIN {NAMESPACE}.odd o ON {self._odd_keys('f.', 'o.')}",
        )
        return self._one("CREATE TABLE {n} USING iceberg AS ", "CREATE OR REPLACE TABLE {n} AS ") + query

    def _spelled(self) -> str:
        """Names, comments and blanks as they may be."""
        source = self._source()
        return self._one(
            f"merge into {{t}} using {source} ON {{t}}.K = {source}.K when matched then delete;",
            f"MERGE INTO {{t}} `t 1` USING (select k as `on`, id from {source}) `when` "
            "ON `t 1`.k = `when`.`on` WHEN MATCHED THEN DELETE",
            f"MERGE INTO {{t}} AS tgt\n USING {source} AS src -- when matched\n ON tgt.k = src.k "
            "/* WHEN NOT MATCHED BY SOURCE */ WHEN MATCHED AND src.name <> 'WHEN NOT MATCHED' THEN DELETE",
            f"DELETE FROM {{t}} WHERE K IN (SELECT `K` FROM {source} WHERE name = 'where')",
            f"DELETE FROM {{t}} WHERE\n\t`k` in (select K from {source} where id in (1, 2, 3)) "
            "and name is not null;",
            f"UPDATE {{t}} SET name = CASE WHEN k = 1 THEN 'set' ELSE 'where' END "
            f"WHERE k IN (SELECT k FROM {source})",
            f"MERGE INTO {{t}} t USING {source} s ON (t.k = s.k) "
            "AND CASE WHEN s.op = 'u' THEN true ELSE t.id > 5 END WHEN MATCHED THEN DELETE",
            f"MERGE INTO {{t}} t USING {source} s ON (t.k = s.k) "
            "AND (CASE WHEN s.op = 'u' THEN true ELSE false END) "
            "WHEN MATCHED THEN UPDATE SET t.name = CASE WHEN s.k = 1 THEN 'one' ELSE s.name END",
            f"DELETE FROM {{t}} AS k WHERE k.k IN (SELECT k.k FROM {source} k WHERE k.op = 'd')",
        )
