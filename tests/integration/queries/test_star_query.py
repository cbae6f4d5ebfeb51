"""A fact and its dimension: the rows and what was read for them, compared with the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import JsonObject, ask, explain, problem
from tests.integration.lakehouse import (
    BY_DAY,
    DAYS,
    DAYS_PER_MONTH,
    FIRST_DAY,
    RETURN_FILES,
    RETURNS,
    SALES,
    DataFile,
    files_of,
    make,
    returns_row,
    sales_on,
)

pytestmark = pytest.mark.integration

STAR = """
SELECT month, count(*) AS sales, sum(amount) AS amount
FROM sales JOIN calendar ON sales.day_key = calendar.day_key
WHERE month = :month GROUP BY month
"""


def scan_of(explanation: JsonObject, table: str) -> JsonObject:
    [found] = [scan for scan in explanation["scans"] if scan["table"] == table]
    scan: JsonObject = found
    return scan


def selection(total: int, selected: int) -> dict[str, int]:
    return {"total": total, "selected": selected}


def sizes(files: Sequence[DataFile]) -> int:
    return sum(file.size for file in files)


def row_counts(files: Sequence[DataFile]) -> int:
    return sum(file.rows for file in files)


def days_of_second_month() -> set[str]:
    return {f"day_key={FIRST_DAY + day}" for day in range(DAYS_PER_MONTH, 2 * DAYS_PER_MONTH)}


def test_the_star_query_answers_and_says_how_its_rows_look(gateway: httpx.Client) -> None:
    answer = ask(gateway, STAR, parameters={"month": 2})

    sales = sum(sales_on(day) for day in range(DAYS_PER_MONTH, 2 * DAYS_PER_MONTH))
    assert answer["result"]["rows"] == [[2, sales, f"{sales * 1.25:.2f}"]]
    assert answer["result"] | {"rows": []} == {
        "chunkIndex": 0,
        "rowOffset": 0,
        "rowCount": 1,
        "rows": [],
        "nextChunkLink": None,
    }
    manifest = answer["manifest"]
    assert [(column["name"], column["type"]) for column in manifest["columns"]] == [
        ("month", "INT"),
        ("sales", "BIGINT"),
        ("amount", "DECIMAL(17,2)"),
    ]
    assert (manifest["totalRowCount"], manifest["chunkCount"], manifest["truncated"]) == (1, 1, False)
    assert answer["links"]["explain"] == f"/explain/{answer['queryId']}"


def test_what_spark_prunes_while_it_runs_counts_as_not_read(gateway: httpx.Client, lake: SqlCatalog) -> None:
    answer = ask(gateway, STAR, parameters={"month": 2})

    sales = lake.load_table("shop.sales")
    everything = files_of(sales)
    wanted = files_of(sales, lambda path: path.parent.name in days_of_second_month())
    scan = scan_of(explain(gateway, answer["queryId"]), "lake.shop.sales")
    assert scan["dataFiles"] == selection(DAYS, DAYS_PER_MONTH)
    assert scan["partitions"] == selection(DAYS, DAYS_PER_MONTH)
    assert scan["bytes"] == selection(sizes(everything), sizes(wanted))
    assert scan["rows"] == {"total": row_counts(everything), "read": row_counts(wanted)}
    assert scan["manifests"]["total"] == DAYS // DAYS_PER_MONTH


def test_the_answer_sums_up_all_scans(gateway: httpx.Client, lake: SqlCatalog) -> None:
    pruning = ask(gateway, STAR, parameters={"month": 2})["pruning"]

    sales, calendar = lake.load_table("shop.sales"), files_of(lake.load_table("shop.calendar"))
    wanted = files_of(sales, lambda path: path.parent.name in days_of_second_month())
    assert pruning["dataFiles"] == selection(DAYS + 1, DAYS_PER_MONTH + 1)
    assert pruning["bytes"] == selection(
        sizes(files_of(sales)) + sizes(calendar), sizes(wanted) + sizes(calendar)
    )


@pytest.mark.parametrize(
    ("predicate", "days"),
    [
        (f"day_key = {FIRST_DAY + 7}", [7]),
        (f"day_key IN ({FIRST_DAY}, {FIRST_DAY + 39}, 5)", [0, 39]),
        (f"day_key >= {FIRST_DAY + 35}", [35, 36, 37, 38, 39]),
        (f"day_key + 0 = {FIRST_DAY + 7}", [7]),
        ("day_key = 0", []),
    ],
)
def test_a_literal_predicate_reads_the_partitions_that_it_names(
    gateway: httpx.Client, lake: SqlCatalog, predicate: str, days: list[int]
) -> None:
    answer = ask(gateway, f"SELECT sale_id FROM sales WHERE {predicate}")

    names = {f"day_key={FIRST_DAY + day}" for day in days}
    sales = lake.load_table("shop.sales")
    wanted, everything = files_of(sales, lambda path: path.parent.name in names), files_of(sales)
    scan = scan_of(explain(gateway, answer["queryId"]), "lake.shop.sales")
    assert scan["snapshotId"] == _current(sales)
    assert scan["partitions"] == scan["dataFiles"] == selection(DAYS, len(days))
    assert scan["bytes"] == selection(sizes(everything), sizes(wanted))
    assert scan["rows"] == {"total": row_counts(everything), "read": row_counts(wanted)}


def test_a_predicate_on_a_column_without_partitions_reads_the_files_whose_bounds_fit(
    gateway: httpx.Client, lake: SqlCatalog
) -> None:
    answer = ask(gateway, "SELECT count(*) FROM returns WHERE return_id BETWEEN 60 AND 80")

    def has_some(path: Path) -> bool:
        found = pq.read_table(path, columns=["return_id"]).column(0).to_pylist()
        return bool(max(found) >= 60 and min(found) <= 80)

    returns = lake.load_table("shop.returns")
    wanted = files_of(returns, has_some)
    scan = scan_of(explain(gateway, answer["queryId"]), "lake.shop.returns")
    assert answer["result"]["rows"] == [[21]]
    assert scan["dataFiles"] == selection(RETURN_FILES, len(wanted)) == selection(RETURN_FILES, 2)
    assert scan["bytes"]["selected"] == sizes(wanted)
    assert scan["partitions"] == selection(1, 1)


def test_totals_are_those_of_the_snapshot_that_was_read(
    gateway: httpx.Client, lake: SqlCatalog, new_name: str
) -> None:
    table = make(lake, new_name, RETURNS)
    found = []
    for commit in (1, 2):
        table.append(returns_row(commit))
        answer = ask(gateway, f"SELECT sum(return_id) FROM {new_name}")
        scan = scan_of(explain(gateway, answer["queryId"]), f"lake.{new_name}")
        found.append((scan["dataFiles"], scan["bytes"]["total"], scan["rows"]["total"], scan["snapshotId"]))
    files = files_of(table)
    assert [counts[0]["total"] for counts in found] == [1, 2]
    assert [counts[2] for counts in found] == [1, 2]
    assert found[1][1] == sizes(files)
    assert found[1][3] == _current(lake.load_table(new_name))


def test_a_count_that_metadata_can_answer_reads_no_file(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT count(*) FROM sales")

    assert answer["result"]["rows"] == [[sum(sales_on(day) for day in range(DAYS))]]
    assert answer["pruning"]["dataFiles"]["selected"] == 0


def test_an_empty_table_is_a_scan_of_nothing(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT * FROM nothing")

    scan = scan_of(explain(gateway, answer["queryId"]), "lake.shop.nothing")
    assert (answer["result"]["rows"], scan["snapshotId"]) == ([], None)
    assert scan["dataFiles"] == selection(0, 0)
    assert answer["manifest"]["totalRowCount"] == 0


def test_the_explanation_has_the_query_its_plan_and_its_times(gateway: httpx.Client) -> None:
    answer = ask(gateway, STAR, parameters={"month": 2})

    explanation = explain(gateway, answer["queryId"])
    assert (explanation["sql"], explanation["state"], explanation["error"]) == (STAR, "SUCCEEDED", None)
    assert "BatchScan" in explanation["plans"]["spark"]
    assert explanation["timings"].keys() == {
        "queuedMs",
        "parseMs",
        "detectMs",
        "filtersMs",
        "planMs",
        "runMs",
    }
    assert all(timing >= 0 for timing in explanation["timings"].values())


def test_the_explanation_for_people_has_a_line_per_level(gateway: httpx.Client) -> None:
    answer = ask(gateway, STAR, parameters={"month": 2})

    response = gateway.get(answer["links"]["explain"], headers={"Accept": "text/plain"})
    assert response.headers["Content-Type"].startswith("text/plain")
    positions = [response.text.index(part) for part in ("== Pruning ==", "== SQL ==", "== Spark Plan ==")]
    assert positions == sorted(positions)
    assert f"data files  {DAYS_PER_MONTH} of {DAYS}" in response.text


def test_an_explanation_is_not_to_be_had_as_a_picture(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT 1")

    problem(gateway.get(answer["links"]["explain"], headers={"Accept": "image/png"}), 406, "NOT_ACCEPTABLE")


def test_tables_are_listed_by_catalog_and_schema(gateway: httpx.Client) -> None:
    everything = _names(gateway.get("/tables"))
    assert {"lake.shop.sales", "lake.shop.calendar", "lake.shop_archive.sales_2019"} <= set(everything)
    # A schema may have the name of a table, and dots in its own name.
    assert everything == sorted(everything, key=lambda name: name.rpartition(".")[::2])
    archive = gateway.get("/tables", params={"catalog": "lake", "schema": "shop_archive"})
    assert _names(archive) == ["lake.shop_archive.sales_2019"]
    assert _names(gateway.get("/tables", params={"catalog": "no_such"})) == []
    nowhere = gateway.get("/tables", params={"catalog": "lake", "schema": "nowhere"}).json()
    assert (nowhere["tables"], nowhere["missingCatalogs"]) == ([], [])


def test_a_table_is_described_as_it_is_now(gateway: httpx.Client, lake: SqlCatalog) -> None:
    found = gateway.get("/tables/lake.shop.sales").json()

    sales = lake.load_table("shop.sales")
    files = files_of(sales)
    assert [(column["name"], column["type"]) for column in found["columns"]] == [
        (field.name, str(field.field_type)) for field in SALES.fields
    ]
    assert found["partitionSpec"] == [{"name": "day_key", "source": "day_key", "transform": "identity"}]
    assert (found["snapshotId"], len(found["snapshots"])) == (_current(sales), 4)
    assert (found["dataFileCount"], found["totalBytes"]) == (len(files), sizes(files))
    assert found["recordCount"] == row_counts(files)
    assert gateway.get("/tables/lake.shop.returns").json()["sortOrder"][0]["source"] == "return_id"
    assert gateway.get("/tables/lake.shop.nothing").json()["snapshotId"] is None


def test_a_table_that_is_not_there_is_answered_with_the_nearest_names(gateway: httpx.Client) -> None:
    found = problem(gateway.get("/tables/lake.shop.salez"), 404, "TABLE_NOT_FOUND")
    assert found["errors"][0]["nearest"][0] == "lake.shop.sales"
    found = problem(gateway.get("/tables/lake.shop_archiv.sales_2019"), 404, "TABLE_NOT_FOUND")
    assert found["errors"][0]["nearest"][0] == "lake.shop_archive.sales_2019"


def test_a_partition_that_was_added_by_someone_else_is_in_the_totals(
    gateway: httpx.Client, lake: SqlCatalog, new_name: str
) -> None:
    table = make(lake, new_name, SALES, BY_DAY)
    for day in (1, 2, 3):
        table.append(_one_sale(day))
    answer = ask(gateway, f"SELECT sale_id FROM {new_name} WHERE day_key = 2")
    scan = scan_of(explain(gateway, answer["queryId"]), f"lake.{new_name}")
    assert scan["partitions"] == selection(3, 1)
    assert scan["manifests"] == selection(3, 1)


def _one_sale(day: int) -> Any:
    return pa.Table.from_pylist([{"sale_id": 1, "day_key": day, "amount": None}], schema=SALES.as_arrow())


def _names(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [table["name"] for table in response.json()["tables"]]


def _current(table: Any) -> int:
    snapshot_id: int = table.current_snapshot().snapshot_id
    return snapshot_id
