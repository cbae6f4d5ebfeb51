from __future__ import annotations

from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bootstrap.settings import Settings
from api.http.explain.explain_html.names import breakable
from api.http.explain.explain_html.plan_drawing import plan_drawing
from api.http.rendering.cures import CURES, Cure, variables_of
from api.http.rendering.reasons import SENTENCES, SOURCES, VERIFICATIONS
from docs.tooling.links import anchors
from service.errors.query_errors import QueryFailed
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterSource
from service.model.query.explanation import PlanNode
from service.model.query.progress import EngineProgress, Phase, QueryProgress, ScanProgress
from service.model.query.scan_metrics import Selection
from service.model.query.verification import Verification
from tests.fakes.gateway import FakeGateway
from tests.fakes.queries import SCAN

pytestmark = pytest.mark.anyio

FLIP = "select * from store_returns, date_dim where sr_returned_date_sk = d_date_sk and d_year = 2000"


async def explained(client: httpx.AsyncClient, sql: str = FLIP, accept: str | None = None) -> httpx.Response:
    response = await client.post("/query", json={"sql": sql})
    headers = {"Accept": accept} if accept else {}
    return await client.get(f"/explain/{response.json()['queryId']}", headers=headers)


async def answer(client: httpx.AsyncClient, sql: str = FLIP) -> dict[str, Any]:
    found: dict[str, Any] = (await explained(client, sql)).json()
    return found


async def test_every_filter_is_reported_whether_applied_or_not(client: httpx.AsyncClient) -> None:
    applied, refused = (await answer(client))["filters"]
    assert applied == {
        "filterId": "df1",
        "joinType": "INNER",
        "probe": {
            "table": "lake.tpcds.store_returns",
            "columns": ["sr_returned_date_sk"],
            "snapshotId": 2**63 - 1,
            "alias": "sr",
            "tableReference": 1,
        },
        "build": {
            "tables": ["lake.tpcds.date_dim"],
            "columns": ["d_date_sk"],
            "predicate": "d_year = 2000",
            "snapshotIds": [2],
            "union": False,
        },
        "source": "COLLECTED",
        "values": 366,
        "bytes": 2928,
        "form": "RANGES",
        "ranges": [[2451545, 2451910], [2452000, 2452001]],
        "exceedsThreshold": True,
        "collectMs": 17,
        "applied": True,
        "reason": "APPLIED",
        "cacheNote": "The filter cache does not answer.",
        "detail": "48 of 50 files overlap",
    }
    assert (refused["applied"], refused["reason"]) == (False, "THRESHOLD_EXCEEDED")
    assert refused["build"]["tables"] == ["lake.tpcds.item", "lake.eu.tpcds.store"]


async def test_the_plans_are_those_of_the_query_and_its_filters(client: httpx.AsyncClient) -> None:
    plans = (await answer(client))["plans"]
    assert set(plans) == {"ast", "optimizedPhysical", "execution", "spark"}
    assert plans["ast"].startswith("LogicalProject(")
    assert (
        "DynamicFilteringTableSourceScan(table=[[lake, tpcds, store_returns]]" in plans["optimizedPhysical"]
    )
    assert "+- Reused(reference_id=[1])" in plans["execution"]
    assert plans["spark"] == "* Scan"


async def test_a_text_that_cannot_be_read_is_explained_without_plans(client: httpx.AsyncClient) -> None:
    found = await answer(client, "SELECT FROM WHERE")
    assert found["plans"]["ast"].startswith("(none: ")
    assert found["scans"][0]["rows"] == {"total": 287_867, "read": 55_440}


@pytest.mark.parametrize(
    ("is_native", "has_run", "word"),
    [(True, True, "pruned by Spark too"), (False, False, "not run"), (None, True, None)],
)
async def test_a_scan_says_whether_it_ran_and_who_pruned_it(
    client: httpx.AsyncClient, gateway: FakeGateway, is_native: bool | None, has_run: bool, word: str | None
) -> None:
    gateway.queries.scan = replace(SCAN, is_native=is_native, has_run=has_run)
    [scan] = (await answer(client))["scans"]
    assert (scan["native"], scan["hasRun"]) == (is_native, has_run)
    assert scan["columns"] == list(SCAN.columns)
    for accept in ("text/plain", "text/html"):
        shown = (await explained(client, accept=accept)).text
        assert f"planned in 12 ms{f', {word}' if word else ''}" in shown
        assert all(phrase == word or phrase not in shown for phrase in ("pruned by Spark too", "not run"))


async def test_row_groups_are_shown_if_they_are_known(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    [scan] = (await answer(client))["scans"]
    assert scan["rowGroups"] is None
    for accept in ("text/plain", "text/html"):
        assert "row groups" not in (await explained(client, accept=accept)).text
    gateway.queries.scan = replace(SCAN, metrics=replace(SCAN.metrics, row_groups=Selection(4006, 400)))
    [scan] = (await answer(client))["scans"]
    assert scan["rowGroups"] == {"total": 4006, "selected": 400}
    assert "  row groups  400 of 4006\n" in (await explained(client, accept="text/plain")).text
    page = (await explained(client, accept="text/html")).text
    assert '<dt>row groups</dt><dd><div class="track" title="400 of 4006 row groups">' in page


async def test_files_that_row_groups_leave_out_are_counted(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    [scan] = (await answer(client))["scans"]
    assert scan["dataFilesLeftOut"] == 0
    for accept in ("text/plain", "text/html"):
        assert "left out by" not in (await explained(client, accept=accept)).text
    gateway.queries.scan = replace(SCAN, files_left_out=198)
    [scan] = (await answer(client))["scans"]
    assert scan["dataFilesLeftOut"] == 198
    text = (await explained(client, accept="text/plain")).text
    assert "  data files  366 of 2003 (198 left out by their row groups)\n" in text
    page = (await explained(client, accept="text/html")).text
    assert "planned in 12 ms, 198 data files left out by their row groups" in page


async def test_times_follow_one_another(client: httpx.AsyncClient) -> None:
    found = await answer(client)
    assert found["timings"] == {
        "queuedMs": 0,
        "parseMs": 3,
        "detectMs": 2,
        "filtersMs": 1,
        "planMs": 40,
        "runMs": 5,
    }
    assert found["rewrittenSql"] is None


async def test_the_text_has_the_three_plans_and_then_what_was_pruned(client: httpx.AsyncClient) -> None:
    response = await explained(client, accept="text/plain")
    assert response.headers["content-type"].startswith("text/plain")
    headings = [line for line in response.text.splitlines() if line.startswith("== ")]
    assert headings == [
        "== Abstract Syntax Tree ==",
        "== Optimized Physical Plan ==",
        "== Optimized Execution Plan ==",
        "== Pruning ==",
        "== SQL ==",
        "== Spark Plan ==",
    ]
    assert "== Pruning ==\nlake.tpcds.store_returns (snapshot 7), planned in 12 ms\n" in response.text
    assert "  data files  366 of 2003\n" in response.text
    keys = "by lake.tpcds.date_dim(d_date_sk) where d_year = 2000"
    how = "applied, 366 values as RANGES, COLLECTED in 17 ms, The filter cache does not answer."
    assert f"df1 on lake.tpcds.store_returns AS sr(sr_returned_date_sk) {keys}: {how}\n" in response.text
    assert ": not applied, THRESHOLD_EXCEEDED\n" in response.text


async def test_a_failed_query_is_explained_with_its_error(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.failures[FLIP] = QueryFailed("Division by zero.")
    response = await explained(client, accept="text/plain")
    assert "FAILED: QUERY_FAILED: Division by zero." in response.text


HOSTILE = """SELECT '</title><script>alert(1)</script>' AS `"><img src=x onerror=alert(1)>` FROM t"""


async def test_the_page_shows_plan_bars_filters_and_text(client: httpx.AsyncClient) -> None:
    response = await explained(client, accept="text/html")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    page = _Page(response.text)
    assert page.is_whole
    assert page.count("svg") == 1
    titles = ["Pruned scan", "Filter collector", "Scan"]
    assert all(f">{title}</text>" in response.text for title in titles)
    assert 'style="width:18.27%"' in response.text
    assert "366 of 2,003" in response.text
    assert "4.9 MB of 25.6 MB" in response.text
    assert "There are more keys than the gateway accepts for one filter." in response.text


def test_the_drawing_says_where_keys_came_from() -> None:
    scan = PlanNode("TableSourceScan", (("table", ("lake", "s", "d")),))
    collected = PlanNode("DynamicFilteringDataCollector", (("fields", ("k",)),), (scan,))
    cached = replace(collected, attributes=(*collected.attributes, ("source", ("CACHED",))))
    assert ">Filter collector</text>" in plan_drawing(collected, ())
    assert ">Keys from the cache</text>" in plan_drawing(cached, ())


@pytest.mark.parametrize("sql", [HOSTILE, HOSTILE.replace("SELECT", "SELEC")])
async def test_nothing_in_the_sql_becomes_part_of_the_page(
    client: httpx.AsyncClient, gateway: FakeGateway, sql: str
) -> None:
    gateway.queries.failures[sql] = QueryFailed(sql)
    response = await explained(client, sql, "text/html")
    page = _Page(response.text)
    assert page.is_whole
    assert page.count("script") == page.count("img") == 0
    assert "default-src 'none'" in response.headers["content-security-policy"]


async def test_the_page_needs_nothing_from_elsewhere(client: httpx.AsyncClient) -> None:
    page = _Page((await explained(client, accept="text/html")).text)
    assert not {"href", "src", "srcset", "action"} & page.attributes


async def test_a_plan_that_is_too_large_is_not_drawn(client: httpx.AsyncClient) -> None:
    response = await explained(client, " UNION ALL ".join(["SELECT 1"] * 300), "text/html")
    assert "too many to draw" in response.text


async def test_json_is_what_is_served_when_nothing_is_asked_for(client: httpx.AsyncClient) -> None:
    assert (await explained(client)).headers["content-type"] == "application/json"
    assert (await explained(client, accept="image/png")).json()["code"] == "NOT_ACCEPTABLE"


async def test_the_place_of_names_is_that_of_the_request(client: httpx.AsyncClient) -> None:
    body = {"sql": FLIP, "catalog": "lake", "schema": "tpcds"}
    sent = (await client.post("/query", json=body)).json()
    found = (await client.get(f"/explain/{sent['queryId']}")).json()
    assert (found["catalog"], found["schema"]) == ("lake", "tpcds")


def test_every_reason_has_its_sentence() -> None:
    assert set(SENTENCES) == set(Reason)


def test_every_source_of_keys_has_its_words() -> None:
    assert set(SOURCES) == set(FilterSource)


def test_every_reason_against_a_filter_has_a_cure() -> None:
    assert set(CURES) == set(Reason) - {Reason.APPLIED}


@pytest.mark.parametrize("cure", CURES.values(), ids=[reason.value for reason in CURES])
def test_a_cure_names_settings_and_a_page_that_exist(cure: Cure) -> None:
    assert set(cure.settings) <= set(Settings.model_fields)
    path, _, heading = cure.page.partition("#")
    assert heading in anchors(Path(__file__).parents[6] / "docs" / path)


def test_the_page_has_every_cure() -> None:
    page = Path(__file__).parents[6].joinpath("docs/reference/pruned-sql.md").read_text("utf-8")
    for reason, cure in CURES.items():
        settings = ", ".join(f"`{name}`" for name in variables_of(cure)) or "–"
        assert f"| `{reason.value}` | {cure.says} | {settings} |\n" in page


def test_the_page_has_every_verification_with_its_sentence() -> None:
    page = Path(__file__).parents[6].joinpath("docs/how-to/query.md").read_text("utf-8")
    assert set(VERIFICATIONS) == set(Verification)
    for verification, sentence in VERIFICATIONS.items():
        assert f"| `{verification.value}` | {sentence} |\n" in page


@pytest.mark.parametrize("accept", ["application/json", "text/plain", "text/html"])
async def test_what_came_of_a_verification_is_reported(
    client: httpx.AsyncClient, gateway: FakeGateway, accept: str
) -> None:
    gateway.queries.verification = Verification.NOT_COMPARABLE
    assert "NOT_COMPARABLE" in (await explained(client, accept=accept)).text


def test_the_page_has_every_reason_with_its_sentence() -> None:
    page = Path(__file__).parents[6].joinpath("docs/reference/pruned-sql.md").read_text("utf-8")
    for reason, sentence in SENTENCES.items():
        assert f"| `{reason.value}` | {sentence} |\n" in page


class _Page(HTMLParser):
    """The tags of a page; `is_whole` if each of them is closed in the right order."""

    void = frozenset({"meta", "wbr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.is_whole = True
        self.feed(text)
        self.is_whole &= not self.open

    def count(self, tag: str) -> int:
        return self.tags.count(tag)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        self.is_whole &= bool(self.open) and self.open.pop() == tag


WITHOUT_REFERENCE = {"tableReference": None, "filterId": None}


async def test_rewrites_are_reported_in_all_three_forms(client: httpx.AsyncClient) -> None:
    relation, native = (await answer(client))["rewrites"]
    detail = "366 rows where d_day_name <> '<b>'"
    assert (
        relation
        == {"rewrite": "LOCAL_RELATION", "table": "lake.tpcds.date_dim", "detail": detail} | WITHOUT_REFERENCE
    )
    assert native == {"rewrite": "NATIVE_PRUNING_OFF", "table": None, "detail": ""} | WITHOUT_REFERENCE
    text = (await explained(client, accept="text/plain")).text
    assert f"LOCAL_RELATION of lake.tpcds.date_dim: {detail}\nNATIVE_PRUNING_OFF\n" in text
    page = (await explained(client, accept="text/html")).text
    assert "<td>LOCAL_<wbr>RELATION</td><td>lake.<wbr>tpcds.<wbr>date_<wbr>dim</td>" in page
    assert "<b>'" not in page


async def test_the_page_of_a_query_that_has_not_ended_says_so_and_asks_again(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.unfinished.add(FLIP)
    sent = (await client.post("/query", json={"sql": FLIP, "waitTimeout": "0s"})).json()
    path = f"/explain/{sent['queryId']}"
    running = (await client.get(path, headers={"Accept": "text/html"})).text
    assert '<meta http-equiv="refresh"' in running
    assert "The query has not ended." in running
    assert "No table was scanned" not in running
    assert "No table was read" not in running
    assert running.count("Not known yet.") == 2
    assert "not known yet" in (await client.get(path, headers={"Accept": "text/plain"})).text
    gateway.queries.finish(UUID(sent["queryId"]))
    ended = (await client.get(path, headers={"Accept": "text/html"})).text
    assert "http-equiv" not in ended
    assert "lake.<wbr>tpcds.<wbr>store_<wbr>returns</h3>" in ended


@given(st.text("a1._ <&>'é", max_size=40))
def test_a_line_may_end_behind_dots_and_underscores_alone(name: str) -> None:
    parts = breakable(name).split("<wbr>")
    assert unescape("".join(parts)) == name
    assert all(part[-1:] in {".", "_"} for part in parts[:-1])


SCANNED = PlanNode("TableSourceScan", (("table", ("lake", "tpcds", "store_sales")),))
COLLECTED = PlanNode("DynamicFilteringTableSourceScan", (), (PlanNode("Collector", (), (SCANNED,)),))


def test_narrow_screens_get_the_plan_as_nested_lists_with_whole_names() -> None:
    plan = PlanNode("Sort", (), (PlanNode("HashJoin", (), (COLLECTED, SCANNED)),))
    drawing = plan_drawing(plan, ())
    scanned = '<li class="scan"><b>Scan</b><small>lake.<wbr>tpcds.<wbr>store_<wbr>sales</small></li>'
    collector = f'<li class="other"><b>Collector</b></li>{scanned}'
    pruned = f'<li class="pruned"><b>Pruned scan</b></li><li><ul>{collector}</ul></li>'
    sides = f"<li><ul>{pruned}{scanned}</ul></li>"
    tops = '<li class="other"><b>Sort</b></li><li class="join"><b>HashJoin</b></li>'
    assert f'<ul class="outline">{tops}{sides}</ul>' in drawing


READING = ScanProgress("lake.tpcds.store_returns<b>", 1234, 3, 9, 2_000_000, 4_900_000)
RUNS = QueryProgress(
    phase=Phase.RUNNING,
    percent=42,
    counters=EngineProgress(
        stages_completed=1,
        stages_total=3,
        tasks_completed=21,
        tasks_running=4,
        tasks_total=50,
        rows=1234,
        bytes=2_000_000,
    ),
    scans=(READING, ScanProgress("lake.hr.salaries")),
)


async def forms_of_a_running_query(
    client: httpx.AsyncClient, gateway: FakeGateway, progress: QueryProgress
) -> tuple[dict[str, Any], str, str]:
    gateway.queries.unfinished.add(FLIP)
    gateway.queries.progress = progress
    sent = (await client.post("/query", json={"sql": FLIP, "waitTimeout": "0s"})).json()
    accepted = ("application/json", "text/plain", "text/html")
    path = f"/explain/{sent['queryId']}"
    found, text, page = [await client.get(path, headers={"Accept": each}) for each in accepted]
    return found.json(), text.text, page.text


async def test_a_running_query_is_explained_with_its_progress(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    found, text, page = await forms_of_a_running_query(client, gateway, RUNS)
    assert (found["progress"]["percent"], found["progress"]["tasks"]["running"]) == (42, 4)
    assert text.startswith(
        "== Progress ==\nRUNNING, 42 %: 21 of 50 tasks (4 running), 1 of 3 stages\n"
        "lake.tpcds.store_returns<b>: 1234 rows, 3 of 9 data files, 2000000 of 4900000 bytes\n"
        "lake.hr.salaries\n\n"
    )
    assert '<div class="fill" style="width:42%"></div>' in page
    assert "21 of 50 tasks (4 running), 1 of 3 stages; read 1,234 rows and 2.0 MB so far" in page
    assert "3 of 9</span>" in page
    assert "2.0 MB of 4.9 MB</span>" in page
    assert "returns&lt;b&gt;" in page
    assert "<script" not in page


async def test_progress_without_numbers_shows_what_is_left(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    hidden = replace(RUNS, percent=40, counters=None, scans=(ScanProgress("lake.hr.salaries"),))
    found, text, page = await forms_of_a_running_query(client, gateway, hidden)
    assert {found["progress"][name] for name in ("stages", "tasks", "rows", "bytes")} == {None}
    assert text.startswith("== Progress ==\nRUNNING, 40 %\nlake.hr.salaries\n")
    assert "running, 40 %" in page
    assert "tasks" not in page.split("What was read")[0].split("Progress</h2>")[1]


async def test_a_query_that_has_ended_has_no_progress(client: httpx.AsyncClient) -> None:
    assert (await answer(client))["progress"] is None
    assert "Progress</h2>" not in (await explained(client, accept="text/html")).text
