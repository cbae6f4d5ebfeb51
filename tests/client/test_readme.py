"""Runs the examples of client/README.md on a gateway over fakes; `tests/integration/docs` has a real one."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import sluice_client
from service.model.tables.schemas import Field, Primitive
from tests.client.gateways import EVENTS, furnished
from tests.fakes.gateway import FakeGateway
from tests.integration.docs.samples import at_gateway, page
from tests.unit.ingest.wide_table import with_columns

SCRIPTS = [step for step in page("client/README.md").steps if isinstance(step, str)]


def test_there_are_examples_of_everything() -> None:
    assert len(SCRIPTS) == 9


@pytest.mark.parametrize("number", range(len(SCRIPTS)))
def test_an_example_runs(address: tuple[str, FakeGateway], number: int) -> None:
    events = with_columns(*EVENTS.schema.columns, Field(11, "http_00", Primitive("string")))
    with furnished(*address, events) as gateway:
        gateway.queries.chunk_rows = 1000
        days = [date(1999, 1, 1) + timedelta(days=number) for number in range(1200)]
        dates = pa.table(
            {"d_date_sk": range(len(days)), "d_date": days, "d_year": [day.year for day in days]}
        )
        gateway.queries.database.register("date_dim", dates)
        path = str(Path(sluice_client.__file__).parents[1])
        ran = subprocess.run(
            [sys.executable, "-c", at_gateway(SCRIPTS[number], gateway.url)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=os.environ | {"PYTHONPATH": path},
        )
    assert ran.returncode == 0, ran.stderr
