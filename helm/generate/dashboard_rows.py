"""The dashboard's contents, row by row. docs/reference/metrics.md says what each metric counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helm.generate.engine_panels import ENGINE, ROOM
from helm.generate.ingest_panels import INGEST, STREAMS
from helm.generate.panels import Panel
from helm.generate.query_panels import CACHES, PRUNING, TRAFFIC

ROWS: Mapping[str, Sequence[Panel]] = {
    "Traffic and latency": TRAFFIC,
    "Pruning": PRUNING,
    "Ingest": INGEST,
    "Streams and maintenance": STREAMS,
    "Engine": ENGINE,
    "Room": ROOM,
    "Caches": CACHES,
}
