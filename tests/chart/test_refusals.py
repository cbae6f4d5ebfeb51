"""Values that would not work are refused before an installation, with a message that says what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.chart.manifests import template

OPEN = {"allow_unauthenticated": True}
REFERENCE = {"name": "secret", "key": "key"}
STORES = {"metrics_store_url": REFERENCE, "filter_cache_url": REFERENCE}
LAKE = OPEN | {"catalogs": {"lake": {"type": "rest", "uri": "https://catalog.example"}}}
CLUSTER = {"spark_master": "k8s://https://kubernetes.default.svc"}

CASES: dict[str, tuple[dict[str, Any], str]] = {
    "nobody was let in": ({}, "Who may ask?"),
    "client certificates without authorities": (
        {"settings": {"tls_client_certificates": "required"}, "tls": {"secretName": "tls"}},
        "tls.clientCaSecretName",
    ),
    "authorities that ask nobody": (
        {"settings": OPEN, "tls": {"secretName": "tls", "clientCaSecretName": "ca"}},
        "tls.clientCaSecretName has no effect",
    ),
    "no gateways": ({"replicas": 0}, "minimum: got 0, want 1"),
    "a value that is none": ({"replica": 2}, "additional properties 'replica' not allowed"),
    "a setting that is none": ({"settings": {"query_worker": 2}}, "'query_worker' not allowed"),
    "a setting out of its bounds": ({"settings": {"query_workers": 0}}, "minimum: got 0, want 1"),
    "a setting of another type": ({"settings": {"query_workers": "8"}}, "got string, want integer"),
    "a port without rights": ({"settings": {"port": 80}}, "minimum: got 80, want 1,024"),
    "an address with its password": (
        {"settings": {"metrics_store_url": "x"}},
        "'metrics_store_url' not allowed",
    ),
    "tokens in the open": ({"settings": {"api_tokens": {}}}, "'api_tokens' not allowed"),
    "a secret of a catalog": ({"settings": {"catalogs": {"lake": {"credential": "x"}}}}, "credential"),
    "a password of a catalog": (
        {"settings": {"catalogs": {"lake": {"uri": "postgresql://a:b@host/db"}}}},
        "'not' failed",
    ),
    "a secret of Spark": ({"settings": {"spark_conf": {"spark.authenticate.secret": "x"}}}, "secret"),
    "two metrics stores for two gateways": ({"replicas": 2, "settings": LAKE}, "one metrics store"),
    "two filter caches": (
        {"replicas": 2, "settings": LAKE, "secretSettings": {"metrics_store_url": REFERENCE}},
        "one filter cache",
    ),
    "two lakes": ({"replicas": 2, "settings": OPEN, "secretSettings": STORES}, "need catalogs"),
    "one claim for two": (
        {"replicas": 2, "settings": LAKE, "secretSettings": STORES, "data": {"kind": "claim"}},
        "for a single gateway",
    ),
    "an embedded lake for two": (
        {"replicas": 2, "settings": LAKE | {"embedded_catalog": True}, "secretSettings": STORES},
        "a lake of one gateway",
    ),
    "an autoscaler without a reason": (
        {
            "settings": LAKE,
            "secretSettings": STORES,
            "autoscaling": {"enabled": True, "cpuPercent": None, "queuedQueries": None},
        },
        "nothing to go by",
    ),
    "fewer at most than at least": (
        {"settings": LAKE, "secretSettings": STORES, "autoscaling": {"enabled": True, "maxReplicas": 1}},
        "minReplicas is more",
    ),
    "a setting as a variable": (
        {"settings": OPEN, "extraEnv": [{"name": "SLUICE_PORT", "value": "1"}]},
        "SLUICE_PORT is a setting",
    ),
    "a port beside the policy": (
        {"settings": OPEN | CLUSTER | {"spark_conf": {"spark.driver.port": "1"}}},
        "must leave out spark.driver.port",
    ),
    "one port for two": ({"settings": OPEN | CLUSTER, "spark": {"driverPort": 8080}}, "have to differ"),
    "one port for two protocols": ({"settings": OPEN | {"hive_port": 8080}}, "have to differ"),
    "one port for Flight and Hive": (
        {"settings": OPEN | {"hive_port": 9, "flight_port": 9}},
        "have to differ",
    ),
    "a setting twice": (
        {"settings": LAKE, "secretSettings": {"catalogs": REFERENCE}},
        "leave it out of settings",
    ),
    "all of spark_conf, which the chart adds to": (
        {"settings": OPEN | CLUSTER, "secretSettings": {"spark_conf": REFERENCE}},
        "a value of its own for spark_conf",
    ),
    "two PostgreSQLs": (
        {
            "settings": OPEN,
            "secretSettings": STORES,
            "postgresql": {"enabled": True, "passwordSecret": REFERENCE},
        },
        "two metrics stores",
    ),
    "a trial without a password": ({"settings": OPEN, "postgresql": {"enabled": True}}, "passwordSecret"),
    "a hook before its server": (
        {
            "settings": OPEN,
            "migration": {"mode": "hook"},
            "postgresql": {"enabled": True, "passwordSecret": REFERENCE},
        },
        "use migration.mode init",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_values_that_would_not_work_are_refused(case: str, tmp_path: Path) -> None:
    values, sentence = CASES[case]
    file = tmp_path / "values.json"
    file.write_text(json.dumps(values))
    done = template("--values", str(file))
    assert done.returncode != 0
    assert sentence in done.stderr
