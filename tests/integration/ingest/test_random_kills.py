"""Two replicas, killed and started again at moments that nobody chose: every row is there once."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO

import pytest

from service.model.ingest import IngestRecord, IngestState
from tests.integration.ingest.lakehouse import IngestLakehouse, data_files

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[3]
KILLS = int(os.environ.get("SLUICE_SOAK_KILLS", "4"))
SEED = int(os.environ.get("SLUICE_SOAK_SEED", "5"))
LINES_AT_MOST = 12


@pytest.mark.timeout(120 + 10 * KILLS)
def test_replicas_that_are_killed_at_random_commit_every_row_once(lakehouse: IngestLakehouse) -> None:
    chance, ids = random.Random(SEED), count()
    records: list[IngestRecord] = []
    for _ in range(KILLS):
        with two_replicas(lakehouse) as lines:
            for _ in range(chance.randint(1, LINES_AT_MOST)):
                # Whatever was said before, a round for this one is still to be told of.
                records.append(lakehouse.accept([next(ids)]))
                assert lines.readline()
    lakehouse.commit_all(*records)
    assert lakehouse.ids() == list(range(len(records))), f"seed {SEED}"
    assert lakehouse.states(records) == {IngestState.COMMITTED}
    assert len(data_files(lakehouse.table())) == len(records)
    snapshots = {lakehouse.record(each).commits[0].snapshot_id for each in records}
    assert snapshots == {each.snapshot_id for each in lakehouse.table().metadata.snapshots}


@contextmanager
def two_replicas(lakehouse: IngestLakehouse) -> Iterator[IO[str]]:
    """What both say, line by line. In the end they are killed, wherever they are."""
    properties = lakehouse.properties
    arguments = (lakehouse.log_url, properties["uri"], properties["warehouse"], lakehouse.key.table.table)
    command = [sys.executable, "-m", "tests.integration.ingest.replica", *arguments]
    reading, writing = os.pipe()
    replicas = [subprocess.Popen(command, cwd=ROOT, stdout=writing, stderr=writing) for _ in range(2)]
    os.close(writing)
    try:
        with os.fdopen(reading) as lines:
            yield lines
            for each in replicas:
                each.kill()
    finally:
        for each in replicas:
            each.kill()
            each.wait()
