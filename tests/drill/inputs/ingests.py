"""Records that are hard to find, to read or to write."""

from __future__ import annotations

import gzip
import json
from functools import partial

from tests.drill.attacks import at_once, opened, posts, requests
from tests.drill.hostile import Attack, Hostile

MIB = 1024**2
TABLE = "lake.drill.returns"
FOLDERS = 12
PAUSES = 200


def _globs(hostile: Hostile) -> None:
    """Searches a folder tree that is slow to search, by patterns that split each path in all ways."""
    for first in range(FOLDERS):
        for second in range(FOLDERS):
            for third in range(FOLDERS):
                (hostile.folder / f"a{first}" / f"a{second}" / f"a{third}").mkdir(parents=True, exist_ok=True)
    patterns = ("**/" * 40 + "*.json", "**/*a*a*a*/" * 20 + "x.json", "*/" * 3 + "**/" * 37 + "[!b]*.json")

    def send(at: int) -> None:
        uri = f"{hostile.folder.as_uri()}/{patterns[at % len(patterns)]}"
        body = {"table": TABLE, "source": {"uri": uri, "format": "ndjson"}}
        hostile.client.post("/ingest", json=body, timeout=10)

    requests(lambda _, at: send(at), 20, 20)(hostile)


def _records(records: object, **more: object) -> bytes:
    return json.dumps({"table": TABLE, "records": records, **more}).encode()


def _small(hostile: Hostile, at: int) -> None:
    hostile.client.post("/ingest", json={"table": TABLE, "records": [{"return_id": -at, "reason": "x"}]})


def _crawling(hostile: Hostile) -> None:
    """Sends chunked bodies whose next chunk always comes slowly."""
    kind = "Content-Type: application/x-ndjson"
    head = (f"POST /ingest?table={TABLE}", kind, "Transfer-Encoding: chunked")
    chunk = b'10\r\n{"return_id":-1}\r\n'
    opened(64, lambda attacker: attacker.head(*head), [chunk] * PAUSES)(hostile)


def _endless(hostile: Hostile) -> None:
    """Sends endless bodies as fast as the gateway reads."""
    lines = b'{"return_id": -1, "reason": "endless"}\n' * 25_000
    headers = {"Content-Type": "application/x-ndjson"}

    def send() -> None:
        body = (lines for _ in range(64))
        hostile.client.post(f"/ingest?table={TABLE}", content=body, headers=headers)

    at_once([partial(send)] * 8)


def _bombs(hostile: Hostile) -> None:
    blanks = gzip.compress(b" " * 16 * MIB, 9)
    kind = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
    # The gzip members follow one another in a single stream.
    posts(f"/ingest?table={TABLE}", [blanks * 64] * 8, kind)(hostile)


NESTED = b'{"table": "lake.drill.returns", "records": ' + b"[" * 1_900_000 + b"]" * 1_900_000 + b"}"
WIDE = _records([{f"c{number}": number for number in range(100_000)}])
WRITES = json.dumps(
    {"writes": [{"table": TABLE, "records": [{"return_id": -1, "reason": "w"}]}] * 40_000}
).encode()
NUMBERS = b'{"table": "lake.drill.returns", "records": [{"return_id": 1e999999999, "reason": "x"}]}'

INGESTS: dict[str, Attack] = {
    "20 globs of 40 **/": _globs,
    "64 bodies that crawl": _crawling,
    "8 bodies of 64 MB at once": _endless,
    "records 1,900,000 deep": posts("/ingest", [NESTED] * 8),
    "records of 100,000 columns": posts("/ingest", [WIDE] * 4),
    "40,000 writes in one request": posts("/ingest", [WRITES] * 4),
    "records with huge numbers": posts("/ingest", [NUMBERS] * 8),
    "bodies that unfold to 1 GB": _bombs,
    "2,000 small ingests": requests(_small, 2000, 32),
}
