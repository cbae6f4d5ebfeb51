"""Generated aggregations have the rows of a full run, while a writer commits during each of them.

`SLUICE_SOAK_REFRESHES` is the number of questions, `SLUICE_SOAK_SEED` the seed. A soak reports each
difference at once, and continues.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping
from random import Random
from uuid import uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from service.model.query.query import Parameter
from tests.refresh.asker import Answer, Asker
from tests.refresh.cases import Case
from tests.refresh.generator import case_of
from tests.refresh.tables import DIMENSION, FACT, dimension_rows, fact_rows, in_arrow, make_table
from tests.refresh.writer import Writer

COUNT = int(os.environ.get("SLUICE_SOAK_REFRESHES", "24"))
SEED = int(os.environ.get("SLUICE_SOAK_SEED", "1"))
IS_SOAK = "SLUICE_SOAK_REFRESHES" in os.environ
SECONDS_PER_QUESTION = 15
POOL = 6
"""So many queries are asked again and again; a new one takes the place of an old one."""
QUESTIONS_PER_TABLE = 100
"""Each commit adds a file: with more of them, questions would spend their time on files."""


class Round:
    """Two tables, and the questions about them."""

    def __init__(self, lake: SqlCatalog, asker: Asker, seed: int) -> None:
        self._random = Random(seed)
        self._asker = asker
        name = uuid4().hex[:8]
        self.fact, self._dimension = f"fact_{name}", f"dim_{name}"
        table = make_table(lake, self.fact, FACT, "k")
        table.append(in_arrow(table, fact_rows(self._random, 80)))
        self._rows = make_table(lake, self._dimension, DIMENSION)
        self._rows.append(in_arrow(self._rows, dimension_rows(self._random)))
        self._pool = [case_of(self._random) for _ in range(POOL)]
        self.kinds: Counter[str] = Counter()

    def ask(self) -> str:
        """Asks one question, and returns what is wrong with its answer; empty if it is right."""
        if self._random.random() < 0.03:
            self._rows.overwrite(in_arrow(self._rows, dimension_rows(self._random)))
        if self._random.random() < 0.15:
            self._pool[self._random.randrange(POOL)] = case_of(self._random)
        case = self._random.choice(self._pool)
        parameters = {"least": Parameter(2)} if case.has_parameter else {}
        sql = case.over(self.fact, self._dimension)
        answer = self._asker.ask(sql, parameters)
        self.kinds[kind_of(answer)] += 1
        if answer.record.error is not None:
            return self._other_error(sql, answer, parameters)
        return self._difference(case, answer, parameters) if answer.has_state else ""

    def _other_error(self, sql: str, answer: Answer, parameters: Mapping[str, Parameter]) -> str:
        error = answer.record.error
        # Values that overflow may be gone when the query runs again.
        if error is None or error.code == "QUERY_FAILED":
            return ""
        full = self._asker.run(sql, parameters).record.error
        return "" if full is not None and full.code == error.code else f"{error}, not {full}\n{sql}"

    def _difference(self, case: Case, answer: Answer, parameters: Mapping[str, Parameter]) -> str:
        # A state may be kept of a dimension that grows; each commit to the fact makes it useless.
        if not case.is_offered and answer.is_refreshed:
            return f"offered: {case.text}"
        # The dimension changes between two questions only.
        pinned = case.over(f"{self.fact} VERSION AS OF {answer.snapshot(self.fact)}", self._dimension)
        full = self._asker.run(pinned, parameters)
        if full.rows is None:
            return f"a full run fails: {full.record.error}\n{case.text}"
        if full.columns != answer.columns:
            return f"other columns: {answer.columns}, not {full.columns}\n{case.text}"
        if case.is_ordered and answer.listed() != full.listed():
            return f"other order: {answer.listed()}\nexpected: {full.listed()}\n{case.text}"
        if answer.bag() != full.bag():
            missing, extra = full.bag() - answer.bag(), answer.bag() - full.bag()
            return f"missing: {missing}\ntoo many: {extra}\n{kind_of(answer)} {case.text}"
        return ""


def kind_of(answer: Answer) -> str:
    if answer.record.error is not None:
        return answer.record.error.code
    if answer.kind is not None:
        return answer.kind.value
    if answer.has_state:
        return "state kept"
    return next((rewrite.detail for rewrite in answer.record.rewrites if not rewrite.table), "ran")


@pytest.mark.filterwarnings("ignore:Delete operation did not match any records:UserWarning")
@pytest.mark.timeout(600 + COUNT * SECONDS_PER_QUESTION)
def test_refreshed_answers_are_those_of_full_runs(lake: SqlCatalog, asker: Asker, gateway: object) -> None:
    assert gateway
    print(f"seed {SEED}")  # noqa: T201 - pytest shows it with a failure
    faults: list[str] = []
    kinds: Counter[str] = Counter()
    for number, first in enumerate(range(0, COUNT, QUESTIONS_PER_TABLE)):
        seed = SEED * 1_000 + number
        asked = Round(lake, asker, seed)
        writer = Writer(lake, asked.fact, seed)
        with writer.at_work():
            for _ in range(min(QUESTIONS_PER_TABLE, COUNT - first)):
                writer.start_commit()
                found = asked.ask()
                if found:
                    faults.append(found)
                    _report(f"fault {len(faults)}: {found}")
                    assert IS_SOAK, found
        kinds += asked.kinds
        _report(f"{kinds.total():,} of {COUNT:,} questions: {dict(kinds)}; {len(faults)} faults")
    outcomes = {outcome.value: count for outcome, count in asker.outcomes().items() if count}
    _report(f"outcomes: {outcomes}")
    assert faults == []
    assert kinds["REFRESHED"] > COUNT // 8, kinds


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - a soak is watched
