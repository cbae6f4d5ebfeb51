"""The TPC-DS texts as Spark ships them, with their last LIMIT."""

from __future__ import annotations

import zipfile

from bench.lakehouse import Lake
from tests.equivalence.tpcds_texts import _RATIO, ARTIFACT, CLASSIFIER, NAMES, VERSION
from tests.equivalence.tpcds_texts import tpcds_texts as fetched_texts

STARS = ("q3", "q7", "q19", "q27", "q42", "q43", "q52", "q55", "q68", "q73", "q79", "q98")
EXAMPLE = "select * from store_returns, date_dim where sr_returned_date_sk = d_date_sk and d_year = 2000"


def tpcds_texts(lake: Lake) -> dict[str, str]:
    """Returns all 103 by name. Division by a sum that few rows leave at zero gives NULL, as in the tests."""
    folder = lake.data_dir / "jars" / "tpcds-texts"
    fetched_texts(folder)
    with zipfile.ZipFile(folder / f"{ARTIFACT}-{VERSION}-{CLASSIFIER}.jar") as jar:
        texts = {name: jar.read(f"tpcds/{name}.sql").decode() for name in NAMES}
    return {name: _RATIO.sub(r"/ nullif(\1, 0)", text).strip().rstrip(";") for name, text in texts.items()}
