"""Spark's driver with the chart's properties starts executors, and needs no more than its role allows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from pyspark.java_gateway import launch_gateway

from tests.chart.kubernetes_api import KubernetesApi, served
from tests.chart.manifests import NAMESPACE, environment_in_pod, rendered
from tests.chart.pod_processes import Processes
from tests.chart.test_environment import secret_of

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]
DRIVER = "trial-sluice-0"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, KubernetesApi, Processes]]:
    """A Spark session that runs on executors, the API that it uses, and their processes."""
    folder = tmp_path_factory.mktemp("driver")
    made = rendered("k8s-executors")
    properties = json.loads(environment_in_pod(made.gateway, secret_of)["SLUICE_SPARK_CONF"])
    [template] = [config_map for config_map in made.of("ConfigMap") if "executor.yaml" in config_map["data"]]
    (folder / "executor.yaml").write_text(template["data"]["executor.yaml"])
    processes = Processes(folder)
    api = KubernetesApi(processes.start)
    api.put(
        f"/api/v1/namespaces/{NAMESPACE}/pods",
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": DRIVER}, "spec": {"containers": []}},
    )
    with ExitStack() as stack:
        address = stack.enter_context(served(api))
        stack.callback(processes.stop)
        gateway = launch_gateway()
        stack.callback(_end, gateway)
        here = {
            "spark.master": f"k8s://{address}",
            "spark.app.name": "sluice",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.port": "0",
            "spark.driver.blockManager.port": "0",
            "spark.blockManager.port": "0",
            "spark.kubernetes.executor.podTemplateFile": str(folder / "executor.yaml"),
            "spark.kubernetes.executor.apiPollingInterval": "1s",
            "spark.dynamicAllocation.enabled": "false",
            "spark.executor.instances": "1",
            "spark.executor.cores": "1",
            "spark.executor.memory": "512m",
            "spark.ui.enabled": "false",
        }
        session = _session(gateway.jvm, properties | here)
        stack.callback(session.stop)
        yield session, api, processes


def _session(jvm: Any, properties: Mapping[str, str]) -> Any:
    builder = jvm.org.apache.spark.sql.SparkSession.builder()
    for name, value in properties.items():
        builder.config(name, value)
    return builder.getOrCreate()


def _end(gateway: Any) -> None:
    gateway.shutdown()
    gateway.proc.kill()
    gateway.proc.wait()
    with suppress(OSError):
        gateway.proc.stdin.close()


@pytest.mark.timeout(180)
def test_queries_run_on_executors_within_the_drivers_rights(
    driver: tuple[Any, KubernetesApi, Processes],
) -> None:
    session, api, processes = driver
    answer = session.sql("SELECT sum(id), count(DISTINCT id % 7) FROM range(0, 1000, 1, 4)").collectAsList()
    assert [answer.get(0).get(column) for column in (0, 1)] == [499_500, 7]
    [pod] = processes.pods
    [owner] = pod["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("Pod", DRIVER, f"uid-of-{DRIVER}")
    assert session.sparkContext().getConf().get("spark.network.crypto.enabled") == "true"
    session.stop()
    [rule] = rendered("k8s-executors").one("Role", "-driver")["rules"]
    for verb, resource, namespace in api.asked:
        assert (verb in rule["verbs"], resource in rule["resources"], namespace) == (True, True, NAMESPACE)
    assert {("create", "pods", NAMESPACE), ("get", "pods", NAMESPACE)} <= api.asked
