"""The page of results, made from the files in bench/results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.measurement import read
from bench.measures import MEASURES

PAGE = Path(__file__).parent.parent / "docs" / "operations" / "benchmarks.md"
INTRODUCTION = """# Benchmarks

`make bench` takes all of them and writes numbers (JSON) and pictures into
`bench/results/`; `.venv/bin/python -m bench select-1 memory` takes single ones; `.venv/bin/python -m bench
report` makes this page from what lies there. `trino` needs another Java, and is only taken by its name.

How to read them: what is compared runs in turn within one run, warm, on the same machine, so ratios and
differences say more than milliseconds. Figures are medians, with the smallest and the largest sample in
brackets. Load comes from processes of its own on the same machine and takes its share of the cores. The
settings are the defaults.

The data is the demo's (TPC-DS at scale 0.1, six tables), and for dynamic filtering all 24 tables at scale 1.
Those, and the tables that single measures need, are made the first time and kept: about ten minutes and 2 GB.
`SLUICE_BENCH_SCALE=0.01` tries these measures at a small scale, under table names of its own; what it
says of speed means nothing. Their peer is Spark's own pruning: the same gateway process, session and tables,
asked with `dynamicFiltering.enabled: false`.
"""


def write_page() -> None:
    """Writes docs/operations/benchmarks.md."""
    PAGE.write_text("\n".join(_lines()), encoding="utf-8")


def _lines() -> Iterator[str]:
    yield INTRODUCTION
    for name, measure in MEASURES.items():
        yield f"## {measure.title}\n\n{measure.method}\n\n`.venv/bin/python -m bench {name}`\n"
        found = read(name)
        if found is None:
            yield "Not measured yet.\n"
            continue
        measurement, machine = found
        yield "| figure | median (min-max) | target |\n|---|---|---|"
        for row in measurement.rows:
            yield f"| {row.label} | {row.text} | {row.verdict} |"
        for remark in measurement.remarks:
            yield f"\n{remark}"
        yield f"\n![{measure.title}](../../bench/results/{name}.png)\n\nTaken on {machine}.\n"
