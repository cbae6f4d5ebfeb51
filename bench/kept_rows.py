"""The star queries of TPC-DS, with and without rows that are kept hashed.

This measures what `SLUICE_HASH_RELATIONS_MAX_BYTES` saves: the engine then keeps the filtered and hashed rows
of small tables for the next query. Two gateway processes on the same tables answer the twelve star queries
and a join of returns and dates over TPC-DS at scale 1, one with 128 MiB for such rows, one with none. Both
prune by cached filters, and have the small tables in memory. There are ten rounds to warm up and nine to
measure. The two take turns, each first in every other round; the rows of the results are not sent, but their
number is compared. A ratio is that of the medians; in brackets are the smallest and the largest of single
rounds.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from bench.lakehouse import Lake
from bench.measurement import Measurement
from bench.ratios import draw_ratios
from bench.star_queries import star_queries
from bench.tpcds_lake import IS_FULL
from bench.two_gateways import Pair, speedups, take_turns

WARM_UP, ROUNDS = (10, 9) if IS_FULL else (2, 3)
PAIR = Pair(
    name="kept-rows",
    with_it="kept",
    without="made anew",
    settings={"SLUICE_HASH_RELATIONS_MAX_BYTES": str(128 << 20)},
    target=1.1,
)


def measure(lake: Lake) -> Measurement:
    """Returns times by query and way, and their ratios."""
    return take_turns(lake, PAIR, star_queries(lake), WARM_UP, ROUNDS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the ratio of each query."""
    axes = figure.subplots()
    draw_ratios(axes, speedups(PAIR, measurement.samples), (1,))
    axes.set_xlabel("times as fast as with rows that are made anew")
