"""Strict parsers accept the text of `/metrics`."""

from __future__ import annotations

import pytest

from tests.deploy.shown_metrics import fullest_text
from tests.deploy.strict_exposition import families


def test_the_fullest_answer_is_read_by_a_strict_parser() -> None:
    found = families(fullest_text())
    assert len(found) > 50
    assert all(metric.documentation for metric in found)
    assert {metric.type for metric in found} == {"counter", "gauge", "histogram"}


def test_every_metric_begins_with_its_owner() -> None:
    names = [family.name for family in families(fullest_text())]
    assert {name.split("_")[0] for name in names} == {"sluice", "process"}


@pytest.mark.parametrize(
    "text",
    [
        "# TYPE a gauge\na 1\na 2\n",
        "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\na 3\n",
        '# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_count 1\na_sum 1\n',
        "# TYPE a gauge\na 1",
    ],
    ids=["a series twice", "a family twice", "buckets that shrink", "no end"],
)
def test_what_is_not_strict_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        families(text)
