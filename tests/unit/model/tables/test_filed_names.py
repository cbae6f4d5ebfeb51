from __future__ import annotations

import pytest
from pyiceberg.schema import make_compatible_name

from service.model.tables.filed_names import filed_name


@pytest.mark.parametrize(
    "name", ["id", "_", "1a", "_1a", "a1", "a.b", "user-agent", "ü", "a b", "😀", "²", "a²", "½", "٣x"]
)
def test_names_in_files_are_those_that_iceberg_gives(name: str) -> None:
    assert filed_name(name) == make_compatible_name(name)
