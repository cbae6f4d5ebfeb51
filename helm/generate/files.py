"""The generated files of the chart, by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from helm.generate.dashboard import dashboard
from helm.generate.readme import readme
from helm.generate.settings_schema import with_settings
from helm.generate.settings_template import settings_template

CHART = Path(__file__).parents[1] / "sluice"


def generated_files() -> Mapping[str, str]:
    """Returns the content of each generated file, by its path in the chart."""
    return {
        "templates/_settings.tpl": settings_template(),
        "values.schema.json": with_settings((CHART / "values.schema.json").read_text(encoding="utf-8")),
        "files/dashboard.json": dashboard(),
        "README.md": readme((CHART / "values.yaml").read_text(encoding="utf-8")),
    }
