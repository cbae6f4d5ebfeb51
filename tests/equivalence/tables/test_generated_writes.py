"""Generated writes by a gateway that prunes them leave the same rows as plain Spark leaves in a copy.

`make soak` runs 5,000 statements: `SLUICE_SOAK_WRITES` tables with twelve statements each, from the table
`SLUICE_SOAK_SEED` on. It prints how many were compared.
"""

from __future__ import annotations

import logging
import os
import random
import sys
import time
from collections.abc import Iterator
from functools import partial

import pytest
import structlog

from service.gateway import Gateway
from spark_session.engine.engine import SparkEngine
from tests.equivalence.more_writes import Generated, MoreWrites
from tests.equivalence.write_pair import WritePair
from tests.equivalence.written_tables import (
    HISTORIES,
    LAYOUTS,
    MODES,
    NAMESPACE,
    ODD,
    fact_texts,
    source_texts,
)
from tests.integration.sql.engine_calls import root_of

SOAKED = int(os.environ.get("SLUICE_SOAK_WRITES", "0"))
FIRST = int(os.environ.get("SLUICE_SOAK_SEED", "1"))
SEEDS, STATEMENTS = (SOAKED, 12) if SOAKED else (2, 6)
# No table is begun after these seconds, so that a run ends by itself.
SECONDS = float(os.environ.get("SLUICE_SOAK_SECONDS", "inf"))
BEGAN_S = time.monotonic()
COPYING, BESIDE = MODES
# Files that are copied are pruned by identity partitions alone. Version 1 has no deletes beside files.
KINDS = ((COPYING, 2), (BESIDE, 3), (BESIDE, 2), (COPYING, 1), (BESIDE, 3), (COPYING, 3), (BESIDE, 2))
COMMITS = (
    "INSERT INTO {{t}} (id, k, b, name) VALUES (1000, {number}, {b}, 'n{number}')",
    "INSERT INTO {{t}} (id, k, b, name) VALUES (1000, 400, 500, 'other')",
    "DELETE FROM {{t}} WHERE k = {number}",
    "DELETE FROM {{t}} WHERE id % 6 = {number} % 6",
    "UPDATE {{t}} SET b = b + 7 WHERE k = {number}",
    "UPDATE {{t}} SET k = {number} WHERE id % 8 = {number} % 8",
    "CALL lake.system.rewrite_data_files(table => '{{t}}', options => map('rewrite-all', 'true'))",
    "ALTER TABLE {{t}} ADD PARTITION FIELD truncate({width}, id)",
)


@pytest.fixture(scope="module")
def pair(gateway: Gateway) -> Iterator[WritePair]:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    root_of(engine).sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")
    for text in (*source_texts(ODD), *fact_texts(f"{NAMESPACE}.fact", LAYOUTS[0], MODES[0], 2)):
        root_of(engine).sql(text)
    pair = WritePair(gateway, engine)
    before = structlog.get_config()
    if SOAKED:
        # Each statement that fails is logged, with all that it was made of.
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    yield pair
    structlog.configure(**before)
    say(pair)


def say(pair: WritePair) -> None:
    if SOAKED:
        sys.stderr.write(f"\n{dict(sorted(pair.seen.items()))}\n{dict(pair.failures.most_common(12))}\n")
        sys.stderr.flush()


@pytest.mark.timeout(100_000)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + SEEDS))
def test_generated_writes_leave_the_same_rows_as_plain_spark(pair: WritePair, seed: int) -> None:
    if time.monotonic() - BEGAN_S > SECONDS:
        pytest.skip("the time of this run is over")
    chance, at = random.Random(seed), seed - 1
    # Each layout gets each mode and version in 56 tables.
    layout, (mode, version) = LAYOUTS[at % len(LAYOUTS)], KINDS[(at + at // len(LAYOUTS)) % len(KINDS)]
    history = chance.choice(list(HISTORIES))
    pair.make(partial(fact_texts, layout=layout, mode=mode, version=version, history=HISTORIES[history]))
    statements = MoreWrites(seed)
    for _ in range(STATEMENTS):
        statement = statements.generated()
        try:
            _check(pair, statement, chance)
        except AssertionError as failure:
            failure.add_note(
                f"seed {seed}: {layout or 'no partitions'}, {mode}, version {version}, {history}"
            )
            raise
    if SOAKED:
        sys.stderr.write(f" {pair.seen['compared'] + pair.seen['met a commit']}")


def _check(pair: WritePair, statement: Generated, chance: random.Random) -> None:
    if chance.random() < 0.7 or "{n}" in statement.text:
        pair.check(statement)
        return
    number = chance.randrange(9)
    commit = chance.choice(COMMITS).format(
        number=number, b=number * 7 - 20, width=chance.randrange(20, 10_000)
    )
    pair.check_meeting(statement, commit, is_late=chance.random() < 0.6)
