"""Two replicas are killed at random moments and restarted: every row is there once."""

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

from service.model.ingest.ingest import IngestRecord, IngestState
from service.model.ingest.writing import WriteResult
from tests.contract.catalogs.plain_data_files import target_of, written
from tests.integration.ingest.lakehouse import IngestLakehouse, data_files

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[3]
KILLS = int(os.environ.get("SLUICE_SOAK_KILLS", "4"))
SEED = int(os.environ.get("SLUICE_SOAK_SEED", "5"))
LINES_AT_MOST = 12
# An ingest has one or several of these write schemas.
WRITE_SCHEMAS = ((1, 2), (1,), (2, 1))


@pytest.mark.timeout(120 + 10 * KILLS)
def test_replicas_that_are_killed_at_random_commit_every_row_once(lakehouse: IngestLakehouse) -> None:
    chance, ids = random.Random(SEED), count()
    records: list[IngestRecord] = []
    results: list[WriteResult] = []
    for _ in range(KILLS):
        with two_replicas(lakehouse) as lines:
            for _ in range(chance.randint(1, LINES_AT_MOST)):
                # Whatever was printed before, a replica still has to print a line for this ingest's round.
                new = write_somehow(lakehouse, chance, ids)
                records.append(lakehouse.accept_results(new))
                results += new
                assert lines.readline()
    lakehouse.commit_all(*records)
    assert lakehouse.ids() == list(range(next(ids))), f"seed {SEED}"
    assert lakehouse.states(records) == {IngestState.COMMITTED}
    assert len(data_files(lakehouse.table())) == len(results)
    in_table = [file.file.file_path for file in lakehouse.table().scan().plan_files()]
    assert sorted(in_table) == sorted(file.as_uri() for file in data_files(lakehouse.table()))
    snapshots = {lakehouse.record(record).commits[0].snapshot_id for record in records}
    assert snapshots == {snapshot.snapshot_id for snapshot in lakehouse.table().metadata.snapshots}


def write_somehow(lakehouse: IngestLakehouse, chance: random.Random, ids: count[int]) -> list[WriteResult]:
    """Writes the files of one ingest, each with another write schema; ids continue where they were."""
    table = lakehouse.table()
    return [
        written(
            table, target_of(table, lakehouse.key, schema), [next(ids) for _ in range(chance.randint(1, 3))]
        )
        for schema in chance.sample(WRITE_SCHEMAS, chance.randint(1, len(WRITE_SCHEMAS)))
    ]


@contextmanager
def two_replicas(lakehouse: IngestLakehouse) -> Iterator[IO[str]]:
    """Yields the output of both replicas, and kills them at the end, wherever they are."""
    properties = lakehouse.properties
    arguments = (lakehouse.log_url, properties["uri"], properties["warehouse"], lakehouse.key.table.table)
    command = [sys.executable, "-m", "tests.integration.ingest.replica", *arguments]
    reading, writing = os.pipe()
    replicas = [subprocess.Popen(command, cwd=ROOT, stdout=writing, stderr=writing) for _ in range(2)]
    os.close(writing)
    try:
        with os.fdopen(reading) as lines:
            yield lines
            for replica in replicas:
                replica.kill()
    finally:
        for replica in replicas:
            replica.kill()
            replica.wait()
