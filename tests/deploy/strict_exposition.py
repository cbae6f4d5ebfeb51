"""Reads `/metrics` as strictly as OpenMetrics asks: no family twice, no series twice, buckets that add up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families


def families(text: str) -> Sequence[Metric]:
    """All metrics of the text.

    Raises:
        ValueError: it is not what Prometheus' format 0.0.4 and OpenMetrics have in common.
    """
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    # The one thing in which the two spell the same differently: a counter's family.
    spelled = re.sub(r"^(# (?:HELP|TYPE) \w+)_total ", r"\1 ", text, flags=re.MULTILINE)
    found = list(text_string_to_metric_families(f"{spelled}# EOF\n"))  # type: ignore[no-untyped-call]
    series = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    if len(set(series)) < len(series):
        raise ValueError("a series is there twice")
    return found
