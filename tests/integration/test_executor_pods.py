"""A gateway with the chart's environment runs queries on executors that it starts as pods."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from tests.chart.helm_program import helm_program
from tests.chart.kubernetes_api import KubernetesApi, served
from tests.chart.manifests import NAMESPACE, environment_in_pod, rendered
from tests.chart.pod_processes import Processes
from tests.chart.test_environment import secret_of
from tests.integration.asking import readiness, rows
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

POD = "trial-sluice-0"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
HERE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.port": "0",
    "spark.driver.blockManager.port": "0",
    "spark.blockManager.port": "0",
    "spark.kubernetes.executor.apiPollingInterval": "1s",
    "spark.dynamicAllocation.enabled": "false",
    "spark.executor.instances": "1",
    "spark.executor.cores": "2",
    "spark.executor.memory": "512m",
}


@pytest.mark.skipif(helm_program() is None, reason="there is no helm for this machine")
@pytest.mark.timeout(400)
def test_queries_run_on_executors_that_the_gateway_has_started(folder: Path) -> None:
    place = folder / "executor-pods"
    place.mkdir()
    made = rendered("k8s-executors")
    conf = json.loads(environment_in_pod(made.gateway, secret_of)["SLUICE_SPARK_CONF"])
    [template] = [config_map for config_map in made.of("ConfigMap") if "executor.yaml" in config_map["data"]]
    (place / "executor.yaml").write_text(template["data"]["executor.yaml"])
    conf |= HERE | {"spark.kubernetes.executor.podTemplateFile": str(place / "executor.yaml")}
    processes = Processes(place)
    api = KubernetesApi(processes.start)
    api.put(PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": POD}, "spec": {"containers": []}})
    with served(api) as address:
        settings = {
            "SLUICE_SPARK_MASTER": f"k8s://{address}",
            "SLUICE_SPARK_CONF": json.dumps(conf),
            "SLUICE_SPARK_DRIVER_MEMORY": "1g",
            "SLUICE_INGEST_SOURCE_PREFIXES": (place / "inbox").as_uri(),
        }
        gateway = RunningGateway.start(place / "data", settings)
        try:
            assert readiness(gateway.client)[0] == 200
            sql = "SELECT sum(id), count(DISTINCT id % 7) FROM range(0, 1000, 1, 4)"
            assert rows(gateway.client, sql) == [[499_500, 7]]
            assert {pod["metadata"]["labels"]["app.kubernetes.io/component"] for pod in processes.pods} == {
                "executor"
            }
            _check_that_executors_write(gateway, place / "inbox")
            # A lost engine is replaced by one with new executors, which it starts by the same rights.
            jvm = gateway.jvm()
            assert jvm is not None
            jvm.kill()
            until(lambda: len(processes.pods) > 1, within_s=120)
            assert rows(gateway.client, sql) == [[499_500, 7]]
            assert gateway.stop() == 0
        finally:
            gateway.kill()
            processes.stop()
    [rule] = made.one("Role", "-driver")["rules"]
    for verb, resource, namespace in api.asked:
        assert (verb in rule["verbs"], resource in rule["resources"], namespace) == (True, True, NAMESPACE)


def _check_that_executors_write(gateway: RunningGateway, inbox: Path) -> None:
    """Executors must use the first Python on their container's path, which has the gateway's packages."""
    inbox.mkdir()
    for number in range(4):
        lines = (json.dumps({"id": number * 100 + index}) for index in range(100))
        (inbox / f"{number}.ndjson").write_text("\n".join(lines))
    with closing(embedded_catalog(gateway.data_dir)) as lake:
        lake.create_namespace("shop")
        table = lake.create_table("shop.from_executors", Schema(NestedField(1, "id", LongType())))
        source = {"uri": f"{inbox.as_uri()}/*.ndjson", "format": "ndjson"}
        answer = gateway.client.post("/ingest", json={"table": "lake.shop.from_executors", "source": source})
        assert answer.status_code == 200, answer.text
        assert sorted(table.refresh().scan().to_arrow()["id"].to_pylist()) == list(range(400))
