"""Both gateways and the single process return the same rows, from the same files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from api.cli.demonstration.demo import QUESTION
from tests.cluster.caller import Answer, Caller
from tests.cluster.findings import Finding
from tests.cluster.place import SCHEMA, Place
from tests.equivalence.tpcds_texts import tpcds_texts
from tests.integration.running import REPOSITORY, RunningGateway
from tests.polling import until

STARS = ("q3", "q7", "q19", "q27", "q42", "q43", "q52", "q55", "q68", "q73", "q79", "q98")


def questions() -> Mapping[str, dict[str, Any]]:
    """Returns the demo's question, and the TPC-DS queries over existing tables."""
    texts = tpcds_texts(REPOSITORY / ".sluice" / "jars" / "tpcds-texts")
    where = {"catalog": "lake", "schema": SCHEMA}
    return {"demo": dict(QUESTION)} | {name: {"sql": texts[name], **where} for name in STARS}


def callers_by_gateway(place: Place) -> Mapping[str, str]:
    """Returns the token of one caller for each gateway to which the balancer led a caller."""
    found: dict[str, str] = {}
    for token in place.tokens.values():
        with Caller(place.balancer.url, token) as caller:
            answer = caller.ask({"sql": "SELECT 1"})
        found.setdefault(_who_served(place, answer.query_id), token)
    return found


def answers(place: Place, callers: Mapping[str, str]) -> Iterator[Finding]:
    """Asks each question through the balancer as a caller of each gateway, and of the single process."""
    with ExitStack() as stack:
        alone = stack.enter_context(Caller(place.alone.url, next(iter(callers.values()))))
        balanced = [stack.enter_context(Caller(place.balancer.url, token)) for token in callers.values()]
        for name, body in questions().items():
            expected = alone.ask(body)
            found = [caller.ask(body) for caller in balanced]
            yield _compared(name, expected, found)


def _compared(name: str, expected: Answer, found: list[Answer]) -> Finding:
    rows_differ = sum(answer.rows != expected.rows for answer in found)
    scans_differ = sum(answer.scans != expected.scans for answer in found)
    shown = f"{len(expected.rows):,} rows, {expected.selected_files:,} data files"
    if rows_differ or scans_differ:
        others = ", ".join(
            f"{len(answer.rows):,} rows, {answer.selected_files:,} data files" for answer in found
        )
        shown = f"{shown}; but {others}"
    return Finding(f"{name}: the same from each", shown, not rows_differ and not scans_differ)


def _who_served(place: Place, query_id: str) -> str:
    """Returns the name of the gateway whose log has the request for the explanation."""
    # A request is logged while its answer is being sent.
    names = until(
        lambda: [gateway.data_dir.name for gateway in place.gateways if _has_explained(gateway, query_id)]
    )
    return names[0]


def _has_explained(gateway: RunningGateway, query_id: str) -> bool:
    lines = (json.loads(line) for line in gateway.log_path.read_text().splitlines() if query_id in line)
    return any(line.get("path") == f"/explain/{query_id}" and line["status"] == 200 for line in lines)
