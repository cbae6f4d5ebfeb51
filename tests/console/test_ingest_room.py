"""Walks through the room Ingest as a user does: files, records that do not fit, streams, and what came."""

from __future__ import annotations

import io
import json
import re
from contextlib import closing
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.console.browsers import violations
from tests.console.conftest import LoggedIn, MakeKey, fits_everyone, picture, sources_of
from tests.console.tables import HOSTILE
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

LOADER = ("loader",)
VISITS = "lake.inbox.visits"
CSV = "visit_id,Page,took_ms,browser\n1,/home,12,x\n2,/shop,,y\n"


def enter(logged_in: LoggedIn, part: str = "", **options: Any) -> Any:
    return logged_in(f"/console#/ingest/{part}", "lea", LOADER, **options)


def drop(page: Any, name: str, content: bytes | str) -> None:
    """Chooses a file, as by its button."""
    raw = content.encode() if isinstance(content, str) else content
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": raw}
    page.get_by_label("Drop a file here, or choose one").set_input_files([file])


def choose_table(page: Any, table: str = VISITS) -> None:
    catalog, schema, name = table.split(".")
    page.get_by_label("Catalog").select_option(catalog)
    page.get_by_label("Schema").select_option(schema)
    page.get_by_role("combobox", name="Table", exact=True).select_option(label=name)


def commit(page: Any) -> None:
    page.get_by_role("button", name="Commit").click()
    page.get_by_role("link", name="Look at the ingest").wait_for()


def visits(gateway: RunningGateway, make_key: MakeKey, where: str) -> list[list[Any]]:
    sql = f"SELECT visit_id, page, took_ms, note FROM {VISITS} WHERE {where} ORDER BY visit_id"
    with closing(gateway.client_with(make_key("lea", LOADER).text)) as client:
        answer = client.post("/query", json={"sql": sql, "waitTimeout": "50s"}).json()
    rows: list[list[Any]] = answer["result"]["rows"]
    return rows


def test_a_file_is_dropped_mapped_and_committed(
    logged_in: LoggedIn, gateway: RunningGateway, make_key: MakeKey
) -> None:
    page = enter(logged_in, "file")
    page.get_by_text("Choose a file to see").wait_for()
    drop(page, "visits.csv", CSV)
    page.get_by_text("visits.csv").wait_for()
    choose_table(page)
    # The case of a name does not matter; a field that the table does not have is left out.
    page.get_by_label("Column for Page").wait_for()
    chosen = {
        name: page.get_by_label(f"Column for {name}").input_value()
        for name in ("visit_id", "Page", "took_ms", "browser")
    }
    assert chosen == {"visit_id": "visit_id", "Page": "page", "took_ms": "took_ms", "browser": ""}
    assert '["visit_id","page","took_ms"]' in page.locator(".write-schema-words").inner_text()
    page.get_by_label("Column for visit_id").select_option("")
    assert "The table needs the column visit_id" in page.locator(".faults").inner_text()
    assert page.get_by_role("button", name="Commit").is_disabled()
    page.get_by_label("Column for visit_id").select_option("visit_id")
    page.get_by_label("Column for browser").select_option("note")
    picture(page, "console-ingest-file")
    commit(page)
    assert visits(gateway, make_key, "visit_id < 10") == [[1, "/home", 12, "x"], [2, "/shop", None, "y"]]
    page.get_by_role("link", name="Look at the ingest").click()
    lines = page.get_by_role("region", name="Tables of this ingest")
    lines.wait_for()
    until(lambda: "visit_id, page, took_ms, note" in lines.inner_text())
    assert re.search(r"snapshot \d+", lines.inner_text())


def test_a_file_replaces_the_rows_of_its_keys(
    logged_in: LoggedIn, gateway: RunningGateway, make_key: MakeKey
) -> None:
    page = enter(logged_in, "file")
    drop(page, "visits.csv", "visit_id,page,took_ms\n70,/old,1\n71,/stays,2\n")
    choose_table(page)
    commit(page)
    drop(page, "again.csv", "visit_id,page\n70,/new\n72,/added\n")
    page.get_by_text("again.csv").wait_for()
    page.get_by_role("combobox", name="The records", exact=True).select_option("upsert")
    page.get_by_text("the identifier fields of the table count").wait_for()
    keys = page.get_by_role("group", name="Columns that identify a row")
    keys.get_by_role("checkbox", name="visit_id").check()
    page.get_by_text("columns that the file does not have become NULL").wait_for()
    fits_everyone(page, "ingest-upsert")
    commit(page)
    assert visits(gateway, make_key, "visit_id IN (70, 71, 72)") == [
        [70, "/new", None, None],
        [71, "/stays", 2, None],
        [72, "/added", None, None],
    ]
    page.get_by_role("link", name="Look at the ingest").click()
    page.get_by_text("replaces rows").wait_for()


def test_a_new_table_is_made_of_a_file(
    logged_in: LoggedIn, gateway: RunningGateway, make_key: MakeKey
) -> None:
    page = enter(logged_in, "file")
    name = f"made_{uuid4().hex[:6]}"
    content = f"Visit,seen_at,price,text,rest\n1,2026-01-31T10:00:00Z,2.50,{HOSTILE},x\n2,,0.001,,y\n3,,,,z\n"
    drop(page, "new.csv", content)
    page.get_by_role("radio", name="A new table").check()
    page.get_by_role("button", name="Commit").wait_for()
    assert page.get_by_role("button", name="Commit").is_disabled()
    page.get_by_label("Catalog").select_option("lake")
    page.get_by_label("Schema").select_option("inbox")
    page.get_by_label("Name of the table").fill("visits")
    types = {
        field: page.get_by_label(f"Type of the column for {field}").input_value()
        for field in ("Visit", "seen_at", "price", "text")
    }
    assert types == {"Visit": "long", "seen_at": "timestamptz", "price": "double", "text": "string"}
    page.get_by_label("Name of the column for Visit").fill("visit_id")
    page.get_by_label("Type of the column for price").select_option("decimal(18, 2)")
    page.get_by_label("Type of the column for rest").select_option("leave out")
    page.get_by_label("Partitioned by").select_option("seen_at")
    page.get_by_label("as its").select_option("day")
    # Records are not added to a table that the user has not looked at.
    page.get_by_role("button", name="Commit").click()
    page.get_by_role("alert").get_by_text("TABLE_EXISTS").wait_for()
    page.get_by_label("Name of the table").fill(name)
    page.get_by_role("alert").wait_for(state="detached")
    page.evaluate("scrollTo(0, 0)")
    picture(page, "console-ingest-new-table")
    fits_everyone(page, "ingest-new-table")
    # A price that does not fit comes after the table is made: the same columns can be sent again.
    page.get_by_role("button", name="Commit").click()
    page.get_by_text("The table was made all the same").wait_for()
    page.get_by_label("Records that do not fit").select_option("DEAD_LETTER")
    commit(page)
    page.get_by_role("link", name="Look at the ingest").click()
    page.get_by_role("link", name=f"lake.inbox.{name}", exact=True).click()
    page.get_by_text("day(seen_at)").wait_for()
    with closing(gateway.client_with(make_key("lea", LOADER).text)) as client:
        sql = f"SELECT visit_id, price, text FROM lake.inbox.{name} ORDER BY visit_id"
        answer = client.post("/query", json={"sql": sql, "waitTimeout": "50s"}).json()
    assert answer["result"]["rows"] == [[1, "2.50", HOSTILE], [3, None, None]]
    assert page.evaluate("typeof hacked") == "undefined"


def test_files_of_other_formats_are_read_by_their_names(
    logged_in: LoggedIn, gateway: RunningGateway, make_key: MakeKey
) -> None:
    page = enter(logged_in, "file")
    choose_table(page)
    table = pa.table({"visit_id": pa.array([20], pa.int64()), "page": ["/parquet"]})
    parquet, arrow = io.BytesIO(), io.BytesIO()
    pq.write_table(table, parquet)
    with pa.ipc.new_stream(arrow, table.schema) as stream:
        stream.write_table(table.set_column(0, "visit_id", pa.array([21], pa.int64())))
    json_lines = '{"visit_id": 9007199254740993, "page": "/json", "extra": {"a": 1}}\n'
    files = (("v.parquet", parquet.getvalue()), ("v.arrows", arrow.getvalue()), ("v.ndjson", json_lines))
    for name, content in files:
        drop(page, name, content)
        page.get_by_text(name, exact=True).wait_for()
        page.get_by_role("region", name="Fields of the file").wait_for()
        commit(page)
    assert visits(gateway, make_key, "visit_id IN (20, 21) OR page = '/json'") == [
        [20, "/parquet", None, None],
        [21, "/parquet", None, None],
        [9007199254740993, "/json", None, None],
    ]
    drop(page, "v.gz", b"\x1f\x8b\x08\x00")
    assert "compressed" in page.get_by_role("alert").inner_text()
    strange = io.BytesIO()
    pq.write_table(pa.table({"visit_id": pa.array([22], pa.int64()), HOSTILE: ["x"]}), strange)
    drop(page, "strange.parquet", strange.getvalue())
    page.get_by_text("The table has no column").wait_for()
    assert HOSTILE in page.locator(".faults").inner_text()
    assert page.get_by_role("button", name="Commit").is_disabled()


def test_records_that_do_not_fit_are_shown_edited_and_sent_again(
    logged_in: LoggedIn, gateway: RunningGateway, make_key: MakeKey
) -> None:
    page = enter(logged_in, "file")
    choose_table(page)
    bad = f'{{"visit_id": 31, "took_ms": "{HOSTILE}"}}'
    drop(page, "v.ndjson", f'{{"visit_id": 30, "took_ms": 1}}\n{bad}\n')
    page.get_by_role("button", name="Commit").click()
    # One record that does not fit causes the file to be refused, with its line.
    problem = page.get_by_role("alert")
    problem.wait_for()
    assert "RECORDS_INVALID" in problem.inner_text()
    assert "Line 2" in problem.inner_text()
    assert visits(gateway, make_key, "visit_id IN (30, 31)") == []
    page.get_by_label("Records that do not fit").select_option("DEAD_LETTER")
    commit(page)
    assert "1 record, and 1 rejected record" in page.get_by_role("status").last.inner_text()
    page.get_by_role("link", name="Look at the ingest").click()
    page.get_by_role("region", name="Rejected records").get_by_text("line 2").wait_for()
    page.get_by_role("button", name="Show the records").click()
    letter = page.get_by_role("form", name="Record 1")
    letter.wait_for()
    assert letter.get_by_role("textbox").input_value() == bad
    picture(page, "console-ingest-rejected")
    letter.get_by_role("button", name="Send again").click()
    assert "RECORDS_INVALID" in letter.get_by_role("alert").inner_text()
    letter.get_by_role("textbox").fill('{\n  "visit_id": 31,\n  "took_ms": 2\n}')
    letter.get_by_role("button", name="Send again").click()
    letter.get_by_role("link", name="its ingest").wait_for()
    assert visits(gateway, make_key, "visit_id IN (30, 31)") == [[30, None, 1, None], [31, None, 2, None]]
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.locator("img").count() == 0


def test_what_came_is_shown_by_table_and_write_schema(
    logged_in: LoggedIn, gateway: RunningGateway, make_key: MakeKey
) -> None:
    with closing(gateway.client_with(make_key("lea", LOADER).text)) as client:
        for columns, record in (
            (["visit_id", "took_ms"], {"visit_id": 40, "took_ms": 7}),
            (["visit_id", "note"], {"visit_id": 41, "note": HOSTILE}),
        ):
            body = {"table": VISITS, "writeSchema": columns, "records": [record]}
            assert client.post("/ingest", json=body).status_code == 200
    page = enter(logged_in)
    groups = page.get_by_role("list", name="By table and write schema")
    groups.get_by_text("visit_id, took_ms", exact=True).first.wait_for()
    groups.get_by_text("visit_id, note", exact=True).first.wait_for()
    assert groups.get_by_role("img").count() >= 2
    picture(page, "console-ingest")
    sums = page.get_by_role("region", name="Tables, by all callers").locator("tr", has_text=VISITS).first
    sums.wait_for()
    page.get_by_label("State").select_option("FAILED")
    page.get_by_text("There are no such ingests of yours").wait_for()
    page.get_by_label("State").select_option("COMMITTED")
    page.get_by_role("region", name="Your ingests").get_by_role("link").first.click()
    page.get_by_role("region", name="Tables of this ingest").get_by_text(VISITS).wait_for()


def test_who_may_not_write_is_refused_in_words(logged_in: LoggedIn) -> None:
    page = logged_in("/console#/ingest/file")
    drop(page, "visits.csv", "visit_id\n50\n")
    choose_table(page)
    page.get_by_role("button", name="Commit").click()
    assert "TABLE_ACCESS_DENIED" in page.get_by_role("alert").inner_text()


def test_a_stream_is_started_stopped_and_resumed(
    logged_in: LoggedIn, gateway: RunningGateway, make_key: MakeKey
) -> None:
    inbox = sources_of(gateway.data_dir) / "visits"
    inbox.mkdir(parents=True, exist_ok=True)
    inbox.chmod(0o755)
    page = enter(logged_in, "streams")
    name = f"visits {uuid4().hex[:6]}"
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Folder", exact=True).fill("file:///etc")
    page.get_by_label("Every", exact=True).fill("1s")
    choose_table(page)
    for column in ("visit_id", "page"):
        page.get_by_role("checkbox", name=column).check()
    page.get_by_role("button", name="Start").click()
    assert "SOURCE_NOT_ALLOWED" in page.get_by_role("alert").inner_text()
    page.get_by_label("Folder", exact=True).fill(inbox.as_uri())
    picture(page, "console-ingest-stream")
    page.get_by_role("button", name="Start").click()
    line = page.get_by_role("region", name="Streams").locator("tr", has_text=name)
    line.get_by_text("running").wait_for()
    (inbox / "_new").write_text(json.dumps({"visit_id": 60, "page": "/stream"}) + "\n")
    (inbox / "_new").rename(inbox / "a.ndjson")
    until(lambda: visits(gateway, make_key, "visit_id = 60") == [[60, "/stream", None, None]], 120)
    until(lambda: re.search(r"ago\s+[\d.]+ m?s\s+1\s", line.inner_text()))
    for act, state in (("Stop", "stopped"), ("Resume", "running"), ("Stop", "stopped")):
        line.get_by_role("button", name=f"{act} {name}").focus()
        page.keyboard.press("Enter")
        line.get_by_role("button", name=f"{act}: sure? {name}").wait_for()
        page.keyboard.press("Enter")
        line.get_by_text(state, exact=True).wait_for()


def test_everyone_can_use_the_room_ingest(logged_in: LoggedIn) -> None:
    page = enter(logged_in, "file")
    drop(page, "visits.csv", CSV)
    choose_table(page)
    page.get_by_label("Column for Page").wait_for()
    page.get_by_label("Records that do not fit").select_option("DEAD_LETTER")
    page.get_by_label("Column for browser").select_option("took_ms")
    page.get_by_label("Column for took_ms").select_option("")
    fits_everyone(page, "ingest-file")
    commit(page)
    assert violations(page) == []
    page.get_by_role("link", name="Look at the ingest").click()
    page.get_by_role("button", name="Show the records").click()
    page.get_by_role("form", name="Record 1").wait_for()
    fits_everyone(page, "ingest-rejected")
    page.get_by_role("link", name="What came").click()
    page.get_by_role("list", name="By table and write schema").wait_for()
    page.get_by_role("region", name="Tables, by all callers").wait_for()
    fits_everyone(page, "ingest")
    page.get_by_role("link", name="Streams").click()
    choose_table(page)
    page.get_by_role("group", name="Columns of the files").wait_for()
    fits_everyone(page, "ingest-streams")
