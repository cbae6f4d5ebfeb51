"""A panel of the dashboard, and the expressions that panels are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SELECTED = 'namespace=~"$namespace", job=~"$job", instance=~"$instance"'


GATEWAY = "{{instance}}"


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: `expressions` by their legends, in one of Grafana's units."""

    title: str
    unit: str
    expressions: Mapping[str, str]
    description: str = ""


def now(metric: str, matcher: str = "") -> str:
    """Returns a gauge of the chosen gateways.

    >>> now("sluice_ready")
    'sluice_ready{namespace=~"$namespace", job=~"$job", instance=~"$instance"}'
    """
    return f"{metric}{{{SELECTED}{matcher}}}"


def per_second(counter: str, matcher: str = "") -> str:
    """Returns the growth of a counter per second."""
    return f"rate({counter}{{{SELECTED}{matcher}}}[$__rate_interval])"


def total(counter: str, matcher: str = "") -> str:
    """Returns the growth of a counter per second, for all chosen gateways together."""
    return f"sum({per_second(counter, matcher)})"


def quantiles(histogram: str) -> Mapping[str, str]:
    """Returns the median, and the 95th and 99th percentiles."""
    buckets = f"sum by (le) ({per_second(f'{histogram}_bucket')})"
    return {f"p{part * 100:g}": f"histogram_quantile({part}, {buckets})" for part in (0.5, 0.95, 0.99)}


def above(histogram: str, by: str = "") -> str:
    """Returns the 95th percentile of each series with these labels."""
    return f"histogram_quantile(0.95, sum by ({by}le) ({per_second(f'{histogram}_bucket')}))"


def ratio(gauge: str, bound: str, matcher: str = "") -> str:
    """Returns the share of its bound that a gauge has reached, for each gateway."""
    return f"{now(gauge, matcher)} / {now(bound, matcher)}"


def share(part: str, whole: str, label: str) -> str:
    """Returns the ratio of two sums, by a label."""
    return f"sum by ({label}) ({part}) / sum by ({label}) ({whole})"


def average(histogram: str) -> str:
    """Returns the average of the observed values."""
    return f"{total(f'{histogram}_sum')} / {total(f'{histogram}_count')}"
