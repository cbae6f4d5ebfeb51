"""Two gateways share the keys of their filters, whatever happens to the cache or to one of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from service.adapters.filters.cache_server import LEASES, VALUES
from service.adapters.filters.codec import decode_head, encode
from tests.fakes.filters import date_filter, keys_of
from tests.integration.asking import JsonObject, ask, explain, post, problem, start, status
from tests.integration.lakehouse import DAYS_PER_MONTH, FIRST_DAY, sales_on
from tests.integration.queries.test_dynamic_filtering import ALWAYS, applied, star
from tests.integration.replicas import SLOW_TO_COLLECT, Replicas, killed, replicas
from tests.integration.running import RunningGateway
from tests.integration.servers import garbage
from tests.polling import until

pytestmark = pytest.mark.integration

NO_ANSWER = "The filter cache does not answer."


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[Replicas]:
    with replicas(folder / "replicas") as started:
        yield started


@pytest.fixture(autouse=True)
def _with_an_empty_cache(both: Replicas) -> None:
    """Empties the cache of both gateways and the server, whatever the previous test did to it."""
    both.cache.mend()
    with both.client() as client:
        client.config_set("maxmemory", "0")
        client.flushall()
    for gateway in (both.here, both.there):
        until(lambda gateway=gateway: gateway.client.delete("/filters").status_code == 200)  # type: ignore[misc]


def sales_in(month: int) -> int:
    return sum(sales_on(day) for day in range((month - 1) * DAYS_PER_MONTH, month * DAYS_PER_MONTH))


def slow(month: int) -> str:
    return SLOW_TO_COLLECT.format(month=month)


def filter_of(gateway: RunningGateway, query_id: str) -> JsonObject:
    """Returns the filter that was applied to the fact."""
    found = explain(gateway.client, query_id)
    [applied_to_sales] = [
        applied_filter
        for applied_filter in applied(found)
        if applied_filter["probe"]["table"] == "lake.shop.sales"
    ]
    return applied_to_sales


def source(gateway: RunningGateway, sql: str) -> str:
    """Returns the source of the keys in this query's filter."""
    found: str = filter_of(gateway, ask(gateway.client, sql, **ALWAYS)["queryId"])["source"]
    return found


def answer(gateway: RunningGateway, query_id: str) -> JsonObject:
    ended = status(gateway.client, query_id, wait="50s")
    assert ended["status"]["state"] == "SUCCEEDED", ended
    return ended


def collections(gateway: RunningGateway) -> float:
    text = gateway.client.get("/metrics").text
    [line] = [line for line in text.splitlines() if line.startswith("sluice_filter_collect_seconds_count")]
    return float(line.split()[-1])


def test_what_one_has_collected_the_other_finds(both: Replicas) -> None:
    assert source(both.here, star(3)) == "COLLECTED"
    assert source(both.there, star(3)) == "CACHED"
    other = "SELECT max(s.amount) FROM calendar d, sales s WHERE d.month = 3 AND s.day_key = d.day_key"
    assert source(both.there, other) == "CACHED"


def test_queries_on_both_at_once_collect_once(both: Replicas) -> None:
    before = collections(both.here) + collections(both.there)
    with ThreadPoolExecutor(8) as threads:
        asked = [
            threads.submit(
                source, (both.here, both.there)[number % 2], f"{slow(2)} AND f.sale_id <> {number}"
            )
            for number in range(8)
        ]
        assert sorted(future.result(60) for future in asked) == ["CACHED"] * 7 + ["COLLECTED"]
    assert collections(both.here) + collections(both.there) == before + 1


def test_what_is_deleted_on_one_the_other_does_not_keep(both: Replicas) -> None:
    assert [source(gateway, star(1)) for gateway in (both.here, both.there)] == ["COLLECTED", "CACHED"]
    assert both.here.client.delete("/filters").json() == {"deleted": 1}
    # From now on, only keys that `there` itself requests are collected.
    until(lambda: source(both.there, star(1)) == "COLLECTED", within_s=5)


def test_both_list_the_same(both: Replicas) -> None:
    for gateway, month in ((both.here, 1), (both.there, 2), (both.here, 3)):
        ask(gateway.client, star(month), **ALWAYS)
    listed = [gateway.client.get("/filters").json()["filters"] for gateway in (both.here, both.there)]
    assert listed[0] == listed[1]
    assert [cached_filter["predicate"] for cached_filter in listed[0]] == [
        "month = 3",
        "month = 2",
        "month = 1",
    ]
    newest = both.there.client.get("/filters", params={"limit": 1}).json()["filters"]
    assert newest == listed[0][:1]


# ---- the cache dies, stops, fills up, forgets, or talks nonsense while keys are collected ---------


def fill(both: Replicas) -> None:
    with both.client() as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", "1")


def flush(both: Replicas) -> None:
    with both.client() as client:
        client.flushall()


def overwrite(both: Replicas) -> None:
    """Overwrites all values and the lease, which gets another owner."""
    with both.client() as client:
        for key in client.keys(f"{LEASES}*"):
            client.set(_text(key).replace(LEASES, VALUES), secrets.token_bytes(100))
            client.set(key, "another")


def _text(key: bytes | str) -> str:
    return key if isinstance(key, str) else key.decode()


@pytest.mark.parametrize(
    ("happens", "note"),
    [
        (lambda both: both.cache.stop(), NO_ANSWER),
        (lambda both: both.cache.pause(), NO_ANSWER),
        (fill, "The filter cache is full."),
        (flush, ""),
        (overwrite, ""),
    ],
    ids=["killed", "paused", "full", "flushed", "overwritten"],
)
def test_whatever_happens_to_the_cache_meanwhile_the_rows_are_right(
    both: Replicas, happens: Callable[[Replicas], None], note: str
) -> None:
    try:
        with both.collecting(both.here, slow(2)) as query_id:
            happens(both)
        rows = answer(both.here, query_id)["result"]["rows"]
    finally:
        both.cache.mend()
    found = filter_of(both.here, query_id)
    assert rows == [[sales_in(2)]]
    assert (found["source"], found["cacheNote"]) == ("COLLECTED", note)
    if not note:
        assert source(both.there, slow(2)) == "CACHED"


def test_something_else_that_answers_in_the_middle_of_a_query_is_a_note(both: Replicas) -> None:
    with ExitStack() as stack:
        stack.callback(both.cache.mend)
        with both.collecting(both.here, slow(1)) as query_id:
            both.cache.stop()
            stack.enter_context(garbage(both.cache.port, b"$no length\r\n"))
        rows = answer(both.here, query_id)["result"]["rows"]
        found = filter_of(both.here, query_id)
    assert rows == [[sales_in(1)]]
    assert (found["source"], found["cacheNote"]) == ("COLLECTED", NO_ANSWER)


@pytest.mark.parametrize(
    ("happens", "note"),
    [(lambda both: both.cache.stop(), NO_ANSWER), (lambda both: both.cache.pause(), NO_ANSWER), (flush, "")],
    ids=["killed", "paused", "flushed"],
)
def test_what_happens_to_the_cache_after_the_keys_were_shared_costs_another_replica_a_collection(
    both: Replicas, happens: Callable[[Replicas], None], note: str
) -> None:
    assert source(both.here, star(2)) == "COLLECTED"
    try:
        happens(both)
        query = ask(both.there.client, star(2), **ALWAYS)
        found = filter_of(both.there, query["queryId"])
    finally:
        both.cache.mend()
    assert query["result"]["rows"][0][:2] == [2, sales_in(2)]
    assert (found["source"], found["cacheNote"]) == ("COLLECTED", note)


def test_a_full_cache_gives_what_it_has_and_takes_no_more(both: Replicas) -> None:
    assert source(both.here, star(3)) == "COLLECTED"
    fill(both)
    known, new = (
        filter_of(both.there, ask(both.there.client, star(month), **ALWAYS)["queryId"]) for month in (3, 4)
    )
    assert (known["source"], known["cacheNote"]) == ("CACHED", "")
    assert (new["source"], new["cacheNote"]) == ("COLLECTED", "The filter cache is full.")


# ---- wrong keys under the right address ------------------------------------------------------------

DOUBTED = f"{star(1)} HAVING count(*) <> 77"


def poison(both: Replicas) -> str:
    """Stores the days of the second month under the address of the first, which is returned."""
    with both.client() as client:
        [key] = client.keys(f"{VALUES}*")
        stored = client.get(key)
        assert isinstance(stored, bytes)
        head = decode_head(stored)
        wanted = date_filter(head.shown.fingerprint, head.type_names)
        days = keys_of(*((FIRST_DAY + day,) for day in range(DAYS_PER_MONTH, 2 * DAYS_PER_MONTH)))
        value, _ = encode(wanted, days, head.shown.created_at, timedelta(days=1))
        client.set(key, value)
    return head.shown.fingerprint


def differences(gateway: RunningGateway) -> float:
    text = gateway.client.get("/metrics").text
    [line] = [line for line in text.splitlines() if 'sluice_verifications_total{outcome="DIFFERENT"}' in line]
    return float(line.split()[-1])


def test_wrong_keys_are_found_by_a_verification_and_used_by_nobody_any_more(both: Replicas) -> None:
    right = [[1, sales_in(1)]]
    assert source(both.here, DOUBTED) == "COLLECTED"
    fingerprint = poison(both)
    before = differences(both.there)
    verified = post(both.there.client, DOUBTED, dynamicFiltering={"minTableBytes": 0, "verify": True})
    failed = problem(verified, 500, "VERIFICATION_FAILED")
    until(lambda: differences(both.there) == before + 1, within_s=5)
    [line] = [line for line in both.there.log_lines() if line["event"] == "verification_failed"]
    assert (line["level"], line["sql"]) == ("error", DOUBTED)
    assert explain(both.there.client, failed["queryId"])["verification"] == "DIFFERENT"
    with both.client() as client:
        assert not client.exists(VALUES + fingerprint)

    # The replica that noticed it runs without the filter; the other one collects the keys again.
    again = ask(both.there.client, DOUBTED, **ALWAYS)
    reasons = {filter_["reason"] for filter_ in explain(both.there.client, again["queryId"])["filters"]}
    assert [row[:2] for row in again["result"]["rows"]] == right
    assert "DISABLED" in reasons
    until(lambda: source(both.here, DOUBTED) == "COLLECTED", within_s=5)
    assert [row[:2] for row in ask(both.here.client, DOUBTED, **ALWAYS)["result"]["rows"]] == right


def test_a_stored_set_that_was_damaged_is_collected_again_and_the_explanation_says_so(both: Replicas) -> None:
    ask(both.here.client, star(2), **ALWAYS)
    with both.client() as client:
        [key] = client.keys(f"{VALUES}*")
        client.set(key, (client.get(key) or b"")[:-1])
    query = ask(both.there.client, star(2), **ALWAYS)
    found = filter_of(both.there, query["queryId"])
    assert query["result"]["rows"][0][:2] == [2, sales_in(2)]
    assert (found["source"], found["cacheNote"]) == (
        "COLLECTED",
        "What lay in the filter cache could not be read.",
    )


@pytest.mark.parametrize(
    "nonsense", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b":no number\r\n", b"*1\r\n" * 5_000]
)
def test_something_else_that_answers_at_its_address_is_a_cache_that_is_down(
    both: Replicas, nonsense: bytes
) -> None:
    both.cache.stop()
    try:
        with garbage(both.cache.port, nonsense):
            query = ask(both.here.client, star(4), **ALWAYS)
            readiness = both.here.client.get("/readyz")
            listed = both.here.client.get("/filters")
        found = filter_of(both.here, query["queryId"])
    finally:
        both.cache.mend()
    assert query["result"]["rows"][0][:2] == [4, sales_in(4)]
    assert (found["source"], found["cacheNote"]) == ("COLLECTED", NO_ANSWER)
    assert readiness.json()["parts"]["filterCache"]["state"] == "DOWN"
    assert (readiness.status_code, listed.status_code) == (200, 503)


def test_two_gateways_ingest_into_one_table_and_every_record_is_there_once(both: Replicas) -> None:
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("note", pa.string())])
    table = both.lake.create_table("shop.notes", schema, properties={"format-version": "2"})

    def send(number: int) -> JsonObject:
        body = {"table": "lake.shop.notes", "records": [{"id": number}], "writeSchema": ["id"]}
        response = (both.here, both.there)[number % 2].client.post("/ingest", json=body)
        assert response.status_code == 200, response.text
        answer: JsonObject = response.json()
        return answer

    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(send, range(24)))
    table.refresh()
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(24))
    snapshots = {answer["commits"][0]["snapshotId"] for answer in answers}
    assert snapshots == {snapshot.snapshot_id for snapshot in table.snapshots()}
    # Both gateways read the same log.
    for gateway in (both.here, both.there):
        [summary] = gateway.client.get("/ingest/summary", params={"table": "lake.shop.notes"}).json()[
            "tables"
        ]
        assert (summary["ingests"], summary["rounds"]["total"]) == (24, len(snapshots))


# ---- one of the two dies: the last test ------------------------------------------------------------


def test_one_that_is_killed_while_it_collects_holds_up_the_other_for_its_lease_only(both: Replicas) -> None:
    with both.collecting(both.here, slow(3)):
        waiting = start(both.there.client, slow(3), **ALWAYS)
        # A query is QUEUED while it is planned.
        until(lambda: status(both.there.client, waiting)["status"]["progress"] is not None)
        killed(both.here)
    assert answer(both.there, waiting)["result"]["rows"] == [[sales_in(3)]]
    assert filter_of(both.there, waiting)["source"] == "COLLECTED"
    assert source(both.there, slow(3)) == "CACHED"
