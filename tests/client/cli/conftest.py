from __future__ import annotations

import io
from pathlib import Path

import pytest
import structlog

from tests.client.cli.running import Cli
from tests.client.gateways import Served


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives the command folders of its own."""
    for name in ("SLUICE_URL", "SLUICE_PROFILE", "NO_COLOR", "PYTHONIOENCODING"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME", "TMPDIR"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("TERM", "xterm")
    return tmp_path


@pytest.fixture(autouse=True)
def _no_log_on_standard_output() -> None:
    """The server runs in this process, and its log would come between the rows."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(io.StringIO()))


@pytest.fixture
def cli(gateway: Served) -> Cli:
    """The command line, for one gateway."""
    return Cli(gateway.url)
