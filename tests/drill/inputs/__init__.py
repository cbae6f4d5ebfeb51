"""All hostile inputs, by name."""

from __future__ import annotations

from tests.drill.hostile import Attack
from tests.drill.inputs.connections import CONNECTIONS
from tests.drill.inputs.engine import ENGINE
from tests.drill.inputs.ingests import INGESTS
from tests.drill.inputs.requests import REQUESTS
from tests.drill.inputs.results import RESULTS
from tests.drill.inputs.rows import ROWS
from tests.drill.inputs.texts import TEXTS

# `make test` also tries the first one.
KINDS: dict[str, dict[str, Attack]] = {
    "engine": ENGINE,
    "rows": ROWS,
    "texts": TEXTS,
    "requests": REQUESTS,
    "results": RESULTS,
    "ingests": INGESTS,
    "connections": CONNECTIONS,
}
HOSTILE_INPUTS: dict[str, Attack] = {
    name: attack for inputs in KINDS.values() for name, attack in inputs.items()
}
