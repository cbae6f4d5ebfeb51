"""Speed ratios: rows and a picture of a contest's samples."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from bench.contest import SPARK, Contest, Samples, Way
from bench.measurement import Row


def ratio_row(label: str, ways: Mapping[str, Sequence[float]], way: Way, peer: Way = SPARK) -> Row:
    """Returns the ratio of the medians, with the extremes of single rounds."""
    theirs, ours = ways[peer.label], ways[way.label]
    ratios = [one / other for one, other in zip(theirs, ours, strict=True)]
    value = statistics.median(theirs) / statistics.median(ours)
    return Row(label, value, "times", min(ratios), max(ratios))


def ratios(samples: Samples, way: Way, peer: Way = SPARK) -> dict[str, Row]:
    """Returns the ratios by query; failed queries are left out."""
    whole = {name: ways for name, ways in samples.items() if is_whole(ways)}
    return {name: ratio_row(f"{name}: {way.label}", ways, way, peer) for name, ways in whole.items()}


def is_whole(ways: Mapping[str, Sequence[float]]) -> bool:
    """Whether each way has as many samples as the others, and at least one."""
    return len({len(way) for way in ways.values()}) == 1 and all(ways.values())


def summary(
    found: Mapping[str, Row], way: Way, mean_target: float | None, least_target: float | None
) -> list[Row]:
    """Returns the geometric mean over all queries, and the smallest ratio."""
    mean = statistics.geometric_mean([row.value for row in found.values()])
    name = min(found, key=lambda candidate: found[candidate].value)
    least = found[name]
    return [
        Row(f"{way.label}: geometric mean", mean, "times", None, None, *_judged(mean, mean_target)),
        Row(
            f"{way.label}: smallest ({name})",
            least.value,
            "times",
            least.low,
            least.high,
            *_judged(least.value, least_target),
        ),
    ]


def _judged(value: float, target: float | None) -> tuple[str | None, bool | None]:
    """Returns the target's text, and whether it is met."""
    return (None, None) if target is None else (f"≥ {target:g}", value >= target)


def faults_row(*contests: Contest) -> Row:
    """Returns whether anything was not as expected; the remarks say what."""
    count = sum(len(contest.faults) for contest in contests)
    return Row("samples that are not as they should be", count, "", target="none", is_met=count == 0)


def draw_ratios(
    axes: Any,
    found: Mapping[str, float],
    lines: Sequence[float],
    label: str = "times as fast as Spark's own pruning",
) -> None:
    """Draws bars from 1, the slowest first."""
    ordered = sorted(found, key=lambda name: found[name])
    values = [found[name] for name in ordered]
    colors = ["tab:red" if value < 1 else "tab:blue" for value in values]
    axes.barh(ordered, [value - 1 for value in values], left=1, color=colors)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    for line in lines:
        axes.axvline(line, color="grey", linestyle=":")
    axes.set_xlabel(label)
