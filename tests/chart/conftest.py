from __future__ import annotations

import pytest

from tests.chart.helm_program import helm_program
from tests.chart.manifests import SETS_OF_VALUES, Rendered, rendered


@pytest.fixture(autouse=True)
def _helm_is_there() -> None:
    if helm_program() is None:
        pytest.skip("there is no helm for this machine in the wheel, and none on the PATH")


@pytest.fixture(params=SETS_OF_VALUES)
def made(request: pytest.FixtureRequest) -> Rendered:
    """Renders the chart with each of its sets of values."""
    return rendered(request.param)
