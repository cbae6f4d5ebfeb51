"""Tests the commands that write and export audit events, on a real PostgreSQL and without a gateway."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.running import run_sluice
from tests.integration.servers import postgres

pytestmark = pytest.mark.integration


def test_commands_are_audited_and_the_log_is_exported(tmp_path: Path) -> None:
    with postgres(tmp_path / "store", "metrics") as store:
        settings = {"SLUICE_METRICS_STORE_URL": store.url("metrics"), "SLUICE_API_KEYS": "true"}

        def sluice(*words: str) -> tuple[int, str]:
            ended = run_sluice(words[0], tmp_path / "cli", settings, *words[1:])
            return ended.returncode, ended.stdout if ended.returncode == 0 else ended.stderr

        assert sluice("migrate")[0] == 0
        status, key = sluice("keys", "create", "reports")
        assert status == 0
        assert sluice("keys", "revoke", "0" * 16)[0] == 1
        status, exported = sluice("audit", "export", "--since", "2026-01-01")
        assert status == 0
        created, revoked, read = map(json.loads, exported.splitlines())
        assert (created["action"], created["outcome"]) == ("KEY_CREATED", "SUCCEEDED")
        assert created["target"] == key.split("_")[1]
        assert created["principal"].startswith("cli")
        assert (revoked["outcome"], revoked["errorCode"]) == ("REFUSED", "API_KEY_NOT_FOUND")
        assert read["action"] == "AUDIT_READ"
        assert key.strip() not in exported
        status, later = sluice("audit", "export", "--after", str(read["position"]))
        assert [json.loads(line)["action"] for line in later.splitlines()] == ["AUDIT_READ"]
        status, error = sluice("audit", "export", "--since", "noon")
        assert (status, "noon is not a time" in error) == (1, True)
