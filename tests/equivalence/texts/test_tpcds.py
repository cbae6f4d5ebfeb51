"""TPC-DS queries return the same rows as written and pruned, with fresh and with cached keys.

`make soak` runs all of them. `SLUICE_TEST_TPCDS_SCALE` sets the data size in gigabytes.
"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import TruncateTransform

from api.bootstrap.parts.find_jars import TPCDS_PACKAGES
from service.adapters.demo_data.tpcds.generator import Generator
from service.adapters.demo_data.tpcds.text import read_text
from service.adapters.demo_data.tpcds.tpcds_schemas import DATE_KEYS, table_schemas
from service.gateway import Gateway
from spark_session.jars.jars import check_java, resolve
from tests.equivalence.harness import Harness
from tests.equivalence.tpcds_texts import NAMES, tpcds_texts
from tests.integration.running import REPOSITORY
from tests.thorough import IS_THOROUGH

SCALE = float(os.environ.get("SLUICE_TEST_TPCDS_SCALE", "0.1"))
JARS = REPOSITORY / ".sluice" / "jars"
# They have every reason, kind of join, form and rewrite of all 103 texts, most of them four times.
REPRESENTATIVE = (
    *("q5", "q6", "q16", "q37", "q49", "q50", "q56", "q57", "q58", "q60", "q68", "q71", "q72", "q73", "q75"),
    *("q76", "q77", "q78", "q79", "q80", "q81", "q82", "q83", "q86", "q98"),
)
# All other queries have a filter. These join no filtered dimension by the column of a fact's layout.
UNFILTERED = frozenset(
    {"q9", "q16", "q24a", "q24b", "q28", "q41", "q44", "q62", "q76", "q84", "q88", "q90", "q93", "q94", "q95"}
    | {"q96", "q99"}
)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return tpcds_texts(JARS / "tpcds-texts")


@pytest.fixture(scope="module")
def tpcds(gateway: Gateway, lake: SqlCatalog, data_dir: Path) -> Harness:
    lake.create_namespace("tpcds")
    schemas = table_schemas()
    generator = Generator(check_java(), resolve(TPCDS_PACKAGES, JARS), data_dir / "tpcds")
    with closing(generator.texts(tuple(schemas), SCALE)) as texts:
        for table, files in texts:
            spec = by_months(schemas[table], DATE_KEYS.get(table))
            created = lake.create_table(f"tpcds.{table}", schemas[table], partition_spec=spec)
            created.append(read_text(files, schemas[table]))
    return Harness(gateway, "tpcds")


def by_months(schema: Schema, date_key: str | None) -> PartitionSpec:
    """Partitions by 60 days. By days, as in the demo, a fact would have two thousand files of ten rows."""
    if date_key is None:
        return UNPARTITIONED_PARTITION_SPEC
    source_id = schema.find_field(date_key).field_id
    return PartitionSpec(PartitionField(source_id, 1000, TruncateTransform(60), "date_part"))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES if IS_THOROUGH else REPRESENTATIVE)
def test_a_text_has_the_same_rows_pruned(name: str, texts: dict[str, str], tpcds: Harness) -> None:
    tpcds.check(texts[name])
    # By now the values in the files are known. Until then, keys are also applied to unsuitable columns.
    filters = tpcds.prune(texts[name]).filters
    assert any(filter_.is_applied for filter_ in filters) is (name not in UNFILTERED), filters
