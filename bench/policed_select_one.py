"""`select 1` with an API key and policies, and without either.

This measures what authentication, decision, rewrite and judgement cost together. Two gateway processes run on
the same machine: one is open, as on loopback; the other asks for API keys and has 1,000 grants, 100 row
filters and 100 masks. One client with one kept connection asks each of them `select 1` in turn, 300 pairs
after a warm-up, each first in every other pair.
"""

from __future__ import annotations

import hashlib
import secrets
import statistics
from pathlib import Path

import orjson
from matplotlib.figure import Figure

from bench.client import SELECT_1, Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread

WARM_UP, PAIRS = 150, 300
MOST_MS = 3.0
OPEN, POLICED = "open", "with a key and policies"
CALLER = "steward"


def measure(lake: Lake) -> Measurement:
    """Returns the medians, and their difference."""
    token = secrets.token_hex(16)
    own = lake.environment() | _settings(lake.data_dir / "policed", token)
    with gateway_process(lake.environment()) as opened, gateway_process(own) as policed:
        admin = Client(policed.url, {"Authorization": f"Bearer {token}"})
        _put(admin)
        clients = {OPEN: Client(opened.url), POLICED: Client(policed.url, _key(admin))}
        samples: dict[str, list[float]] = {OPEN: [], POLICED: []}
        for number in range(WARM_UP + PAIRS):
            for way in (OPEN, POLICED) if number % 2 else (POLICED, OPEN):
                took_ms = clients[way].timed_query_ms(SELECT_1)
                if number >= WARM_UP:
                    samples[way].append(took_ms)
    difference = statistics.median(samples[POLICED]) - statistics.median(samples[OPEN])
    rows = [
        *(spread(way, times) for way, times in samples.items()),
        Row("difference of the medians", difference, "ms", None, None, "< 3 ms", difference < MOST_MS),
    ]
    return Measurement(rows, samples)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws both."""
    axes = figure.subplots()
    axes.boxplot(list(measurement.samples.values()), tick_labels=list(measurement.samples), showfliers=False)
    axes.set_ylabel("ms")
    axes.set_ylim(bottom=0)


def _settings(data_dir: Path, token: str) -> dict[str, str]:
    return {
        "SLUICE_DATA_DIR": str(data_dir),
        "SLUICE_JARS_DIR": str(data_dir.parent / "jars"),
        "SLUICE_API_TOKENS": orjson.dumps({CALLER: hashlib.sha256(token.encode()).hexdigest()}).decode(),
        "SLUICE_API_KEYS": "true",
        "SLUICE_ADMINS": CALLER,
        "SLUICE_AUTHORIZATION": "policies",
    }


def _put(admin: Client) -> None:
    """1,000 grants and 200 policies; the key's own role has ten of each."""
    roles = {
        f"role_{role}": {
            "grants": [
                {"tables": f"lake.s{role}.t{number}_*", "actions": ["select"]} for number in range(10)
            ],
            "rowFilters": [{"tables": f"lake.s{role}.t0_*", "predicate": "id > 3"}],
            "masks": [{"tables": f"lake.s{role}.t1_*", "column": "card", "mask": "null"}],
        }
        for role in range(100)
    }
    version = orjson.loads(admin.get("/policies")[1])["version"]
    status, answer = admin.put("/policies", orjson.dumps({"version": version, "roles": roles}))
    if status != 200:
        raise RuntimeError(f"{status}: {answer[:500]!r}")


def _key(admin: Client) -> dict[str, str]:
    """Returns the headers of a new API key."""
    status, answer = admin.post("/keys", orjson.dumps({"principal": "ann", "roles": ["role_7"]}))
    if status not in (200, 201):
        raise RuntimeError(f"{status}: {answer[:500]!r}")
    return {"Authorization": f"Bearer {orjson.loads(answer)['key']}"}
