"""Parses `/metrics` strictly, as OpenMetrics asks: no duplicate family or series, and consistent buckets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families


def families(text: str) -> Sequence[Metric]:
    """Returns all metrics of the text.

    Raises:
        ValueError: it is outside what Prometheus' format 0.0.4 and OpenMetrics have in common.
    """
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    # A counter's family is the only thing that the two formats name differently.
    spelled = re.sub(r"^(# (?:HELP|TYPE) \w+)_total ", r"\1 ", text, flags=re.MULTILINE)
    found = list(text_string_to_metric_families(f"{spelled}# EOF\n"))  # type: ignore[no-untyped-call]
    series = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    if len(set(series)) < len(series):
        raise ValueError("a series is there twice")
    return found
