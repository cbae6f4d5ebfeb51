"""A caller that sends requests to one address, and reads answers to their ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import httpx

TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Answer:
    """All rows, sorted; what each scan read; and the query's id."""

    query_id: str
    rows: Sequence[str]
    scans: Sequence[str]
    selected_files: int


class Caller:
    """A client with one token, to be used in a `with` block."""

    def __init__(self, url: str, token: str) -> None:
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_S,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, body: dict[str, Any]) -> Answer:
        """Asks twice and returns the second answer, for which everything was cached by the first."""
        self._rows(body)
        query_id, rows = self._rows(body)
        explained = self._right(self._client.get(f"/explain/{query_id}"))
        scans = [_scan(scan) for scan in explained["scans"]]
        files = sum(scan["dataFiles"]["selected"] for scan in explained["scans"])
        # Rows with equal keys in an ORDER BY may come in any order.
        return Answer(query_id, sorted(rows), sorted(scans), files)

    def ingest(self, body: dict[str, Any]) -> dict[str, Any]:
        """Sends records or a source, and waits until they are committed."""
        return self._committed(self._client.post("/ingest", json=body))

    def ingest_body(self, content: bytes, **parameters: str) -> dict[str, Any]:
        """Sends a body of NDJSON."""
        headers = {"Content-Type": "application/x-ndjson"}
        return self._committed(
            self._client.post("/ingest", params=parameters, content=content, headers=headers)
        )

    def _committed(self, response: httpx.Response) -> dict[str, Any]:
        answer = self._right(response)
        assert answer["state"] == "COMMITTED", answer
        return answer

    def _rows(self, body: dict[str, Any]) -> tuple[str, list[str]]:
        response = self._client.post("/query", json={"waitTimeout": "50s", "rowLimit": 1_000_000, **body})
        while response.status_code == 202:
            response = self._client.get(response.json()["links"]["self"], params={"waitTimeout": "50s"})
        answer = self._right(response)
        assert answer["status"]["state"] == "SUCCEEDED", answer["status"]
        chunk = answer["result"]
        found = list(map(json.dumps, chunk["rows"]))
        while chunk["nextChunkLink"] is not None:
            chunk = self._right(self._client.get(chunk["nextChunkLink"]))
            found += map(json.dumps, chunk["rows"])
        assert len(found) == answer["manifest"]["totalRowCount"]
        return answer["queryId"], found

    @staticmethod
    def _right(response: httpx.Response) -> dict[str, Any]:
        assert response.status_code == 200, response.text[:2000]
        found: dict[str, Any] = response.json()
        return found


def _scan(scan: dict[str, Any]) -> str:
    """Returns the part of a scan that must not depend on where it ran."""
    return json.dumps(
        {name: scan[name] for name in ("table", "snapshotId", "partitions", "dataFiles", "bytes")}
    )
