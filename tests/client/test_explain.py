"""Tests explanations: as data, as a tree, and as a picture."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from uuid import uuid4

import pytest

import service.model.query.scan_metrics as model
from service.errors.query_errors import QueryFailed
from sluice_client import Connection, Explanation, NotFound, errors
from sluice_client.calls import Answer
from sluice_client.explaining.explanation import explanation_of
from sluice_client.explaining.picture import picture, svg
from sluice_client.query.query_answer import Selection
from tests.client.gateways import Served
from tests.fakes.queries import SCAN


@pytest.fixture
def explained(connection: Connection) -> Explanation:
    return connection.query("SELECT 1").explain()


def test_a_query_is_explained_after_it_ran(explained: Explanation) -> None:
    assert explained.state == "SUCCEEDED"
    assert explained.query_id is not None
    [scan] = explained.scans
    assert scan.table == "lake.tpcds.store_returns"
    assert (scan.data_files.selected, scan.data_files.total) == (366, 2003)
    assert any(found.is_applied for found in explained.filters)
    assert {"ast", "optimizedPhysical", "execution", "spark"} <= set(explained.plans)
    assert explained.raw["state"] == "SUCCEEDED"


def test_a_text_is_explained_without_running(gateway: Served, connection: Connection) -> None:
    explained = connection.explain("SELECT :n", {"n": 1})
    assert (explained.state, explained.query_id) == ("PLANNED", None)
    assert gateway.queries.by_id == {}


def test_a_failed_query_is_explained_from_its_error(gateway: Served, connection: Connection) -> None:
    gateway.queries.failures["SELECT 1"] = QueryFailed("Division by <zero>.")
    with pytest.raises(errors.QueryFailed) as raised:
        connection.query("SELECT 1")
    assert raised.value.query_id is not None
    explained = connection.explain(raised.value.query_id)
    assert explained.error == "QUERY_FAILED: Division by <zero>."
    assert "Division by <zero>" in str(explained)
    assert "Division by &lt;zero&gt;" in picture(explained)


def test_an_unknown_query_is_not_found(connection: Connection) -> None:
    with pytest.raises(NotFound, match="QUERY_NOT_FOUND"):
        connection.explain(uuid4())


def test_row_groups_are_shown_if_the_gateway_knows_them(
    gateway: Served, connection: Connection, explained: Explanation
) -> None:
    assert explained.scans[0].row_groups is None
    assert "row groups" not in str(explained)
    found = model.Selection(total=4006, selected=400)
    gateway.queries.scan = replace(SCAN, metrics=replace(SCAN.metrics, row_groups=found))
    known = connection.query("SELECT 1").explain()
    assert known.scans[0].row_groups == Selection(400, 4006)
    assert "4.7 MiB of 24.4 MiB (19%), 400 of 4006 row groups" in str(known)


def test_files_that_row_groups_leave_out_are_counted(gateway: Served, connection: Connection) -> None:
    gateway.queries.scan = replace(SCAN, files_left_out=198)
    explained = connection.query("SELECT 1").explain()
    assert explained.scans[0].data_files_left_out == 198
    assert "366 of 2003 files (198 left out by their row groups), 4.7 MiB" in str(explained)


def test_a_gateway_of_the_version_before_has_no_row_groups(explained: Explanation) -> None:
    [scan] = explained.raw["scans"]
    later = {"rowGroups", "dataFilesLeftOut"}
    earlier = {name: value for name, value in scan.items() if name not in later}
    assert len(earlier) == len(scan) - len(later)
    body = json.dumps({**explained.raw, "scans": [earlier]}).encode()
    assert explanation_of(Answer(200, {"content-type": "application/json"}, body)).scans == explained.scans


def test_the_tree_has_a_line_for_each_scan_and_filter(explained: Explanation) -> None:
    lines = str(explained).splitlines()
    assert len(lines) == 1 + len(explained.scans) + len(explained.filters)
    assert "366 of 2003 files, 4.7 MiB of 24.4 MiB (19%)" in str(explained)


def test_the_picture_is_one_svg_without_scripts_and_addresses(explained: Explanation) -> None:
    shown = explained._repr_html_()
    assert "<svg" in shown
    assert "<script" not in shown
    drawn = ElementTree.fromstring(svg(explained.scans))
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}rect"))) == 2 * len(explained.scans)


def test_text_of_the_query_cannot_become_markup(explained: Explanation) -> None:
    evil = "</svg><script>alert(1)</script>"
    scans = tuple(replace(scan, table=evil) for scan in explained.scans)
    filters = tuple(replace(found, detail=evil, probe_table=evil) for found in explained.filters)
    shown = picture(
        replace(explained, sql=evil, rewritten_sql=evil, error=evil, state=evil, scans=scans, filters=filters)
    )
    assert "<script" not in shown
    assert "&lt;script" in shown


def test_an_explanation_without_scans_is_shown_too(explained: Explanation) -> None:
    empty = replace(explained, scans=(), filters=())
    assert str(empty).count("\n") == 0
    assert "No table was scanned" in picture(empty)
    assert "<svg" in svg(())
