from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy.dialects import registry

import tests.dialect_suite.provision  # noqa: F401 - registers its functions

registry.register("sluice", "sluice_client.sqlalchemy", "SluiceDialect")
registry.register("sluice.http", "sluice_client.sqlalchemy", "SluiceDialect")
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Shows how many tests were left out for each reason."""
    skipped = terminalreporter.stats.get("skipped", [])
    # SQLAlchemy writes the name of the test before the reason.
    texts = (str(report.longrepr[2]).rsplit(" : ", 1)[-1] for report in skipped)
    reasons = Counter(text.removeprefix("Skipped: ") for text in texts)
    terminalreporter.section("left out")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:5} {reason}")
