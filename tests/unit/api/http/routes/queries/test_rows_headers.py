"""Tests what answers of rows alone say about the whole result."""

from __future__ import annotations

import httpx
import pytest

from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio
ROWS_ALONE = ["text/csv", "application/vnd.apache.arrow.stream"]


@pytest.mark.parametrize("is_truncated", [False, True])
@pytest.mark.parametrize("accept", ROWS_ALONE)
async def test_rows_alone_come_with_their_number_and_whether_a_limit_cut_them(
    client: httpx.AsyncClient, gateway: FakeGateway, accept: str, is_truncated: bool
) -> None:
    gateway.queries.is_truncated = is_truncated
    sent = await client.post("/query", json={"sql": "select 1"}, headers={"Accept": accept})
    query_id = sent.headers["X-Query-Id"]
    paths = (f"/query/{query_id}", f"/query/{query_id}/chunks/1", f"/query/{query_id}/result")
    answers = [sent, *[await client.get(path, headers={"Accept": accept}) for path in paths]]
    for answer in answers:
        assert answer.headers["Content-Type"].startswith(accept)
        assert answer.headers["X-Row-Count"] == "3"
        assert answer.headers["X-Truncated"] == ("true" if is_truncated else "false")


async def test_the_common_shape_of_answer_says_it_in_its_manifest(client: httpx.AsyncClient) -> None:
    answer = await client.post("/query", json={"sql": "select 1"})
    assert "X-Row-Count" not in answer.headers
    assert answer.json()["manifest"]["truncated"] is False
