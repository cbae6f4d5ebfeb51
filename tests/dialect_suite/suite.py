"""The tests of SQLAlchemy, without those that expect what no gateway has though no requirement says so."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.testing import suite
from sqlalchemy.testing.suite import *  # noqa: F403

NO_KEYS = "tables count no keys"


class ComponentReflectionTestExtra(suite.ComponentReflectionTestExtra):  # type: ignore[no-redef]
    @pytest.mark.skip(reason="texts of Iceberg have no lengths")
    def test_string_length_reflection(self, *_: Any) -> None:
        """Every text is a STRING."""


class InsertBehaviorTest(suite.InsertBehaviorTest):  # type: ignore[no-redef]
    @pytest.mark.skip(reason=NO_KEYS)
    def test_no_results_for_non_returning_insert(self, *_: Any) -> None:
        """It leaves out the key, as the next ones do."""

    @pytest.mark.skip(reason=NO_KEYS)
    def test_insert_from_select_autoinc(self, *_: Any) -> None:
        """See above."""

    @pytest.mark.skip(reason=NO_KEYS)
    def test_insert_from_select_autoinc_no_rows(self, *_: Any) -> None:
        """See above."""


class IsolationLevelTest(suite.IsolationLevelTest):  # type: ignore[no-redef]
    @pytest.mark.skip(reason="there are no transactions")
    def test_dialect_user_setting_is_restored(self, *_: Any) -> None:
        """It takes another level than AUTOCOMMIT."""


class LongNameBlowoutTest(suite.LongNameBlowoutTest):  # type: ignore[no-redef]
    def ix(self, *_: Any) -> None:
        """Makes an index of a long name."""
        pytest.skip("tables have no indexes")


@pytest.mark.skip(reason="RETURNING is refused before it is sent")
class ReturningGuardsTest(suite.ReturningGuardsTest):  # type: ignore[no-redef]
    """Spark could read RETURNING as the name of a table of values, so the compiler refuses it."""
