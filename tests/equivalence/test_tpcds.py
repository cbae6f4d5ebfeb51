"""Every TPC-DS text returns the same rows narrowed, with fresh and with cached keys, and as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from service.adapters.tpcds.loader import load_tpcds
from service.adapters.tpcds.schemas import table_schemas
from service.gateway import Gateway
from spark_session.jars import check_java, resolve
from tests.equivalence.harness import Harness
from tests.equivalence.tpcds_texts import NAMES, tpcds_texts
from tests.integration.running import REPOSITORY

SCALE = 0.01
PACKAGES = ("io.trino.tpcds:tpcds:1.4", "io.airlift:airline:0.8")
JARS = REPOSITORY / ".sluice" / "jars"
# The star queries, of which every one has a filter that pays.
STARS = ("q3", "q7", "q19", "q27", "q42", "q43", "q52", "q55", "q68", "q73", "q79", "q98")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return tpcds_texts(JARS / "tpcds-texts")


@pytest.fixture(scope="module")
def tpcds(gateway: Gateway, lake: SqlCatalog, data_dir: Path) -> Harness:
    load_tpcds(
        catalog=lake,
        schema="tpcds",
        scale=SCALE,
        tables=tuple(table_schemas()),
        jars=resolve(PACKAGES, JARS),
        java=check_java(),
        work_dir=data_dir / "tpcds",
        on_progress=lambda _: None,
    )
    return Harness(gateway, "tpcds")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_a_text_has_the_same_rows_narrowed(name: str, texts: dict[str, str], tpcds: Harness) -> None:
    checked = tpcds.check(texts[name])
    if name in STARS:
        assert checked.applied
