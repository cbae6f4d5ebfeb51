"""Generated writes leave the same rows as plain Spark leaves in a copy of the table."""

from __future__ import annotations

import random

import pytest

from service.gateway import Gateway
from spark_session.engine.engine import SparkEngine
from tests.integration.sql.engine_calls import root_of
from tests.integration.sql.write_calls import marked, write

OURS, PLAIN, OTHER = "lake.w.ours", "lake.w.plain", "lake.w.other"
MODES = ("copy-on-write", "merge-on-read")


@pytest.fixture(scope="module")
def engine(gateway: Gateway) -> SparkEngine:
    """The engine of the gateway. Its rights to write are those of whoever asks it directly."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    root_of(engine).sql("CREATE NAMESPACE IF NOT EXISTS lake.w")
    root_of(engine).sql(f"DROP TABLE IF EXISTS {OTHER}")
    root_of(engine).sql(
        f"CREATE TABLE {OTHER} USING iceberg AS SELECT bigint(id * 3) AS id, int(id % 4) AS k, "
        "if(id % 5 = 0, NULL, concat('o', id)) AS name, decimal(id / 7) AS price FROM range(20)"
    )
    return engine


def make(engine: SparkEngine, table: str, mode: str) -> None:
    properties = ", ".join(f"'write.{each}.mode'='{mode}'" for each in ("delete", "update", "merge"))
    root_of(engine).sql(f"DROP TABLE IF EXISTS {table}")
    root_of(engine).sql(
        f"CREATE TABLE {table} USING iceberg PARTITIONED BY (k) TBLPROPERTIES ({properties}) AS "
        "SELECT bigint(id) AS id, int(id % 5) AS k, if(id % 6 = 0, NULL, concat('n', id)) AS name, "
        "decimal(id / 3) AS price FROM range(40)"
    )


def rows(engine: SparkEngine, table: str) -> list[str]:
    return sorted(str(tuple(row)) for row in root_of(engine).table(table).collect())


class Statements:
    """Makes statements over a table `{t}`."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def next(self) -> str:
        kind = self._random.choice((self._insert, self._delete, self._update, self._merge))
        return kind()

    def _condition(self, alias: str = "") -> str:
        name = f"{alias}." if alias else ""
        number = self._random.randrange(40)
        return self._random.choice(
            (
                f"{name}id % 7 = {number % 7}",
                f"{name}id BETWEEN {number} AND {number + 3}",
                f"{name}k = {number % 5}",
                f"{name}name IS NULL",
                f"{name}name LIKE '%{number % 10}'",
                f"{name}id IN (SELECT id FROM {OTHER} WHERE k = {number % 4})",
                f"NOT ({name}price > {number / 4})",
                f"{name}k = {number % 5} OR ({name}name <=> 'n{number}' AND {name}price IS NOT NULL)",
            )
        )

    def _value(self) -> str:
        return self._random.choice(("id + 1", "id", "-id", f"{self._random.randrange(90)}"))

    def _insert(self) -> str:
        number = self._random.randrange(90)
        return self._random.choice(
            (
                f"INSERT INTO {{t}} VALUES ({number}, {number % 5}, 'v', 1.5), ({number}, NULL, NULL, NULL)",
                f"INSERT INTO {{t}} SELECT id + 9, k, name, price FROM {OTHER} WHERE {self._condition()}",
                f"INSERT INTO {{t}} (name, id, k) SELECT name, id, k FROM {{t}} WHERE {self._condition()}",
                "WITH x AS (SELECT * FROM {t} ORDER BY id, name LIMIT 3) INSERT INTO {t} SELECT * FROM x",
            )
        )

    def _delete(self) -> str:
        return f"DELETE FROM {{t}} WHERE {self._condition()}"

    def _update(self) -> str:
        column, value = self._random.choice(
            (("id", self._value()), ("k", "k + 1"), ("name", "upper(name)"), ("price", "price * 2"))
        )
        return f"UPDATE {{t}} SET {column} = {value} WHERE {self._condition()}"

    def _merge(self) -> str:
        matched = self._random.choice(
            ("DELETE", "UPDATE SET price = s.price, name = coalesce(s.name, t.name)", "UPDATE SET *")
        )
        only = self._random.choice(("", f" AND {self._condition('t')}"))
        if "SELECT" in only:
            only = ""
        return (
            f"MERGE INTO {{t}} t USING (SELECT DISTINCT id, k, name, price FROM {OTHER} "
            f"WHERE {self._condition()}) s ON t.id = s.id "
            f"WHEN MATCHED{only} THEN {matched} WHEN NOT MATCHED THEN INSERT *"
        )


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_generated_writes_leave_what_plain_spark_leaves(engine: SparkEngine, mode: str, seed: int) -> None:
    make(engine, OURS, mode)
    make(engine, PLAIN, mode)
    statements = Statements(seed)
    for _ in range(8):
        text = statements.next()
        query_id = write(engine, text.format(t=OURS))
        root_of(engine).sql(text.format(t=PLAIN))
        assert rows(engine, OURS) == rows(engine, PLAIN), text
        assert len(marked(engine, OURS, query_id)) <= 1, text
