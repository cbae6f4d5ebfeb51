from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from service.errors.gateway_error import CannotStart
from spark_session.settings.spark_version import check_spark_version

ROOT = Path(__file__).parents[4]
TOO_OLD = ("4.1.0", "4.1.1", "4.1.2", "4.1.3", "4.1.3-vendor.7", "4.1.4-preview1", "4.1.4-SNAPSHOT", "4.0.9")
OTHER = ("3.5.7", "4.2.0", "5.1.4", "", "main")


@pytest.mark.parametrize("version", ["4.1.4", "4.1.5", "4.1.10", "4.1.4-vendor.2"])
def test_spark_without_the_known_wrong_results_may_start(version: str) -> None:
    check_spark_version(version)


@pytest.mark.parametrize("version", TOO_OLD + OTHER)
def test_any_other_spark_is_refused_with_what_to_install(version: str) -> None:
    with pytest.raises(CannotStart, match=r"needs 4\.1\.4"):
        check_spark_version(version)


def test_the_package_asks_for_what_the_start_accepts() -> None:
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert "pyspark>=4.1.4,==4.1.*" in needs


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_what_is_locked_may_start(lock: str) -> None:
    line = next(line for line in (ROOT / lock).read_text().splitlines() if line.startswith("pyspark=="))
    check_spark_version(line.removeprefix("pyspark==").split()[0])
