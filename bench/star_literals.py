"""The star queries of TPC-DS with other literals each time, as a dashboard asks for other parameters.

This measures what a caller gains over stock Spark when no text comes twice. Twelve star queries over TPC-DS
at scale 1 get other years, months, managers and makers in each round. Two gateway processes on the same
tables take turns, and are asked the same text. One has every cache on, as in the measure of stock Spark, and
also keeps sets of rows that other conditions select from. The other has the default settings, and is asked
with `dynamicFiltering.enabled: false`. There are fifteen rounds to warm up and fifteen to measure. The
numbers of rows are compared in each. A ratio is that of the medians; in brackets are the smallest and the
largest of single rounds.

With the same literals each time, the same queries reach 2.9, in the measure of stock Spark. Other literals
cost Spark's own way little: it compiles again only the code that has them. For the gateway, such a text is a
new one. It is parsed and searched for filters, in about three times the time of a known text, and Spark
parses and analyses it, where it keeps the plan of a known one. In a profile of a loaded machine at scale 0.1,
q42 was read and searched in 29 ms in place of 7, and planned in 112 in place of 53. Its keys cost nothing:
there are sixty months, and soon all of their keys are cached. Three ideas were tried. Rows of whole small
tables in memory brought the mean from 1.8 to 2.1. Finding these rows by an order, without compiling each
condition, and adding days to dates without the engine brought q98 from 1.26 to about 1.5, and hardly the
mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from matplotlib.figure import Figure

from bench.contest import SPARK, Contest, Way
from bench.every_cache import stock_and_cached
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.ratios import draw_ratios, faults_row, ratios, summary
from bench.tpcds_lake import IS_FULL, PRUNED, REMARKS, TABLES
from bench.tpcds_texts import STARS, tpcds_texts

WARM_UP, ROUNDS = (15, 15) if IS_FULL else (1, 2)
TARGET = 3.2
KEPT_SETS = {"SLUICE_DYNAMIC_FILTERING_KEPT_SETS": "16"}
OTHERS = Way("filters for other literals", PRUNED)

FIRST_YEAR, YEARS = 1998, 5
"""The years that have sales. The data have them for nothing else."""
_LITERALS: Mapping[str, Callable[[int], str]] = {
    r"d_year = \d{4}": lambda number: f"d_year = {FIRST_YEAR + number % YEARS}",
    r"\(1999, 1999 \+ 1, 1999 \+ 2\)": lambda number: "({0}, {0} + 1, {0} + 2)".format(
        FIRST_YEAR + number % (YEARS - 2)
    ),
    r"d_moy = \d+": lambda number: f"d_moy = {1 + number % 12}",
    r"i_manager_id = \d+": lambda number: f"i_manager_id = {1 + number * 7 % 100}",
    r"i_manufact_id = \d+": lambda number: f"i_manufact_id = {1 + number * 37 % 1000}",
    r"'1999-02-22'": lambda number: f"'{FIRST_YEAR + number % YEARS}-{1 + number % 12:02}-22'",
    r"hd_dep_count = \d+": lambda number: f"hd_dep_count = {number % 10}",
}


def measure(lake: Lake) -> Measurement:
    """Returns times by query and way, and their ratios."""
    texts = {name: text for name, text in tpcds_texts(lake).items() if name in STARS}
    queries: dict[str, dict[str, Any]] = {name: {"sql": text, **TABLES} for name, text in texts.items()}
    with stock_and_cached(lake, cached_also=KEPT_SETS) as (peer, ours):
        contest = Contest(ours, queries, (SPARK, OTHERS), peer)
        for number in range(WARM_UP + ROUNDS):
            for name, text in texts.items():
                queries[name]["sql"] = with_other_literals(text, number)
            if number < WARM_UP:
                contest.warm_up(1)
            else:
                contest.round(lambda _: True)
    return Measurement(_rows(contest), contest.samples, (*REMARKS, *dict.fromkeys(contest.faults)))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each query's ratio."""
    found = {name: row.value for name, row in ratios(measurement.samples, OTHERS).items()}
    draw_ratios(figure.subplots(), found, (TARGET,))


def with_other_literals(text: str, number: int) -> str:
    """Returns the text with the literals of this round.

    >>> with_other_literals("SELECT 1 WHERE d_year = 2000 AND d_moy = 11", 3)
    'SELECT 1 WHERE d_year = 2001 AND d_moy = 4'
    """
    for pattern, literal in _LITERALS.items():
        text = re.sub(pattern, literal(number), text)
    return text


def _rows(contest: Contest) -> list[Row]:
    found = ratios(contest.samples, OTHERS)
    return [
        *summary(found, OTHERS, TARGET, None),
        faults_row(contest),
        *found.values(),
        *(
            spread(f"{name}: {label}", times)
            for name, ways in contest.samples.items()
            for label, times in ways.items()
        ),
    ]
