"""Everything that an operator can set, by `SLUICE_…` variables or a YAML file: a module for each group."""

from __future__ import annotations

from api.bootstrap.settings.serving.serving import LogFormat, LogLevel
from api.bootstrap.settings.settings import CONFIG_FILE, Settings

__all__ = ["CONFIG_FILE", "LogFormat", "LogLevel", "Settings"]
