"""The column lineage that is read from Spark's analyzed plan."""

from __future__ import annotations

import pytest

from service.model.query.lineage import ColumnLineage
from service.ports.engine.query_engine import EngineResult
from spark_session.engine.engine import SparkEngine
from tests.integration.engine.test_engine import prepare, run

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def engine(shared_engine: SparkEngine) -> SparkEngine:
    prepare(
        shared_engine,
        "CREATE TABLE lake.shop.sales (id INT, item INT, day DATE, price DECIMAL(9, 2), tags ARRAY<STRING>)",
        "CREATE TABLE lake.shop.item (id INT, name STRING, place STRUCT<city: STRING>)",
        "INSERT INTO lake.shop.item VALUES (1, 'one', named_struct('city', 'x'))",
        "INSERT INTO lake.shop.sales VALUES (1, 1, DATE '2026-01-01', 2.50, array('a', 'b'))",
    )
    return shared_engine


def lineage_of(engine: SparkEngine, sql: str) -> ColumnLineage:
    result: EngineResult = run(engine, sql)
    lineage = result.lineage()
    assert lineage is not None, sql
    assert [column.name for column in lineage.columns] == [column.name for column in result.columns]
    return lineage


def reported(lineage: ColumnLineage) -> dict[str, set[str]]:
    """Returns `table.column KIND` by result column; `*` stands for the rows, and `!` for masked sources."""
    parts = {column.name: column.sources for column in lineage.columns} | {"*": lineage.rows}
    return {
        name: {
            f"{source.table.removeprefix('lake.shop.')}.{source.column} {source.influence}"
            + "!" * source.is_masked
            for source in sources
        }
        for name, sources in parts.items()
    }


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1 AS one", {"one": set(), "*": set()}),
        (
            "SELECT id, price * 2 AS twice FROM lake.shop.sales WHERE day > DATE '2020-01-01' ORDER BY item",
            {
                "id": {"sales.id IDENTITY"},
                "twice": {"sales.price TRANSFORMATION"},
                "*": {"sales.day FILTER", "sales.item SORT"},
            },
        ),
        (
            "SELECT i.name, sum(s.price) AS amount, count(s.id) AS n, count(*) AS all_of_them"
            " FROM lake.shop.sales s JOIN lake.shop.item i ON s.item = i.id GROUP BY i.name",
            {
                "name": {"item.name IDENTITY"},
                "amount": {"sales.price AGGREGATION"},
                "n": {"sales.id AGGREGATION!"},
                "all_of_them": set(),
                "*": {"sales.item JOIN", "item.id JOIN", "item.name GROUP_BY"},
            },
        ),
        (
            "SELECT CASE WHEN day IS NULL THEN item ELSE id END AS c, if(price > 1, id, 0) AS d,"
            " sha2(CAST(id AS STRING), 256) AS h FROM lake.shop.sales",
            {
                "c": {"sales.day CONDITIONAL", "sales.item TRANSFORMATION", "sales.id TRANSFORMATION"},
                "d": {"sales.price CONDITIONAL", "sales.id TRANSFORMATION"},
                "h": {"sales.id TRANSFORMATION!"},
                "*": set(),
            },
        ),
        (
            "WITH w AS (SELECT item AS k, price AS p FROM lake.shop.sales)"
            " SELECT a.k, b.p FROM w a JOIN w b ON a.k = b.k",
            {"k": {"sales.item IDENTITY"}, "p": {"sales.price IDENTITY"}, "*": {"sales.item JOIN"}},
        ),
        (
            "SELECT id FROM lake.shop.item UNION ALL SELECT item FROM lake.shop.sales",
            {"id": {"item.id IDENTITY", "sales.item IDENTITY"}, "*": set()},
        ),
        (
            "SELECT id, row_number() OVER (PARTITION BY item ORDER BY day) AS n,"
            " sum(price) OVER (PARTITION BY item) AS s FROM lake.shop.sales",
            {
                "id": {"sales.id IDENTITY"},
                "n": set(),
                "s": {"sales.price AGGREGATION"},
                "*": {"sales.item WINDOW", "sales.day WINDOW"},
            },
        ),
        (
            "SELECT tag FROM lake.shop.sales LATERAL VIEW explode(tags) AS tag",
            {"tag": {"sales.tags TRANSFORMATION"}, "*": set()},
        ),
        (
            "SELECT (SELECT max(name) FROM lake.shop.item i WHERE i.id = s.item) AS name"
            " FROM lake.shop.sales s"
            " WHERE EXISTS (SELECT 1 FROM lake.shop.item j WHERE j.id = s.id)",
            {
                "name": {"item.name AGGREGATION"},
                "*": {"item.id FILTER", "sales.item FILTER", "sales.id FILTER"},
            },
        ),
        (
            "SELECT t.name FROM lake.shop.sales s,"
            " LATERAL (SELECT name FROM lake.shop.item i WHERE i.id = s.item) t",
            {"name": {"item.name IDENTITY"}, "*": {"item.id FILTER", "sales.item FILTER"}},
        ),
        (
            "SELECT place.city FROM lake.shop.item",
            {"city": {"item.place TRANSFORMATION"}, "*": set()},
        ),
        (
            "SELECT item, day, count(*) AS n FROM lake.shop.sales GROUP BY ROLLUP (item, day)",
            {
                "item": {"sales.item IDENTITY"},
                "day": {"sales.day IDENTITY"},
                "n": set(),
                "*": {"sales.item GROUP_BY", "sales.day GROUP_BY"},
            },
        ),
        (
            "SELECT DISTINCT v.a FROM VALUES (1), (2) AS v(a) WHERE v.a IN (SELECT id FROM lake.shop.sales)",
            {"a": {"v.a IDENTITY"}, "*": {"v.a FILTER", "sales.id FILTER"}},
        ),
        (
            "SELECT id FROM lake.shop.item EXCEPT SELECT item FROM lake.shop.sales",
            {"id": {"item.id IDENTITY"}, "*": {"sales.item FILTER"}},
        ),
    ],
)
def test_each_column_is_reported_with_what_it_is_made_of(
    engine: SparkEngine, sql: str, expected: dict[str, set[str]]
) -> None:
    assert reported(lineage_of(engine, sql)) == expected


def test_a_view_is_reported_by_its_tables(engine: SparkEngine) -> None:
    prepare(
        engine,
        "CREATE OR REPLACE GLOBAL TEMP VIEW dear AS SELECT id AS k FROM lake.shop.sales WHERE price > 1",
    )
    found = reported(lineage_of(engine, "SELECT k FROM global_temp.dear"))
    assert found == {"k": {"sales.id IDENTITY"}, "*": {"sales.price FILTER"}}


def test_what_would_take_too_long_is_not_reported(engine: SparkEngine) -> None:
    """The query takes a column made of 500 others 500 times."""
    columns = ", ".join(f"CAST(id + {number} AS STRING) AS c{number}" for number in range(500))
    together = f"concat_ws('', {', '.join(f'c{number}' for number in range(500))})"
    copies = ", ".join(f"a AS a{number}" for number in range(500))
    base = f"SELECT {columns}, id AS c FROM lake.shop.sales"
    assert run(engine, f"SELECT {together} AS a FROM ({base}) WHERE false").lineage() is not None
    prepare(engine, f"CREATE TABLE lake.shop.wide AS {base} WHERE false")
    assert (
        run(
            engine, f"SELECT {copies} FROM (SELECT {together} AS a FROM lake.shop.wide) WHERE false"
        ).lineage()
        is None
    )
