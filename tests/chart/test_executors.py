"""Spark makes a pod of the chart's template that starts an executor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.java_gateway import launch_gateway

from tests.chart.kubernetes_schemas import VERSIONS, faults
from tests.chart.manifests import NAMESPACE, Manifest, environment_in_pod, rendered
from tests.chart.test_environment import secret_of

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]
BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manifest]:
    """The first executor's pod, which Spark makes of the chart's properties and template."""
    made = rendered("k8s-executors")
    properties = json.loads(environment_in_pod(made.gateway, secret_of)["SLUICE_SPARK_CONF"])
    [template] = [config_map for config_map in made.of("ConfigMap") if "executor.yaml" in config_map["data"]]
    assert made.gateway["volumeMounts"][2] == {
        "name": "executor",
        "mountPath": "/etc/sluice",
        "readOnly": True,
    }
    assert properties["spark.kubernetes.executor.podTemplateFile"] == "/etc/sluice/executor.yaml"
    file = tmp_path_factory.mktemp("template") / "executor.yaml"
    file.write_text(template["data"]["executor.yaml"])
    gateway = launch_gateway()
    try:
        yield _made_by_spark(
            gateway.jvm,
            properties
            | {
                "spark.master": "k8s://https://127.0.0.1:1",
                "spark.app.name": "sluice",
                "spark.kubernetes.executor.podTemplateFile": str(file),
                "spark.executor.extraJavaOptions": "-Dfirst='one two' -Dsecond=2",
            },
        )
    finally:
        gateway.shutdown()
        gateway.proc.kill()
        gateway.proc.wait()
        gateway.proc.stdin.close()


def _made_by_spark(jvm: Any, properties: Mapping[str, str]) -> Manifest:
    spark, none = jvm.org.apache.spark, jvm.scala.Option.empty()
    conf = spark.SparkConf(False)
    for name, value in properties.items():
        conf.set(name, value)
    of_executor = spark.deploy.k8s.KubernetesConf.createExecutorConf(conf, "1", "spark-1", none, 0)
    default_secret = getattr(spark.SecurityManager, "$lessinit$greater$default$3")()
    security = spark.SecurityManager(conf, none, default_secret)
    security.initializeAuth()
    profiles = getattr(getattr(spark.resource, "ResourceProfile$"), "MODULE$")
    client = jvm.io.fabric8.kubernetes.client.KubernetesClientBuilder().build()
    builder = spark.scheduler.cluster.k8s.KubernetesExecutorBuilder()
    made = builder.buildFromFeatures(
        of_executor, security, client, profiles.getOrCreateDefaultProfile(conf)
    ).pod()
    as_json = jvm.io.fabric8.kubernetes.client.utils.Serialization.asJson
    pod: Manifest = json.loads(as_json(made.pod()))
    pod["spec"]["containers"] = [json.loads(as_json(made.container()))]
    return pod


def test_spark_keeps_what_the_template_says(pod: Manifest) -> None:
    [template] = rendered("k8s-executors").executor_pods()
    spec, wanted = pod["spec"], template["spec"]
    [container], [wanted_container] = spec["containers"], wanted["containers"]
    for name in ("securityContext", "automountServiceAccountToken", "nodeSelector", "tolerations"):
        assert spec[name] == wanted[name]
    for name in ("command", "workingDir", "securityContext"):
        assert container[name] == wanted_container[name]
    assert template["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
    assert spec["serviceAccountName"] == "trial-sluice-executor"
    # This is 8g of heap, and 4g in addition.
    assert container["resources"]["limits"]["memory"] == "12288Mi"


def test_each_version_takes_what_spark_makes(pod: Manifest) -> None:
    assert {version: faults(pod, version) for version in VERSIONS} == {version: [] for version in VERSIONS}


def test_an_executor_knows_its_driver_and_its_disk(pod: Manifest) -> None:
    [container] = pod["spec"]["containers"]
    found = {variable["name"]: variable.get("value") for variable in container["env"]}
    driver = f"trial-sluice-0.trial-sluice-driver.{NAMESPACE}.svc:7078"
    assert found["SPARK_DRIVER_URL"] == f"spark://CoarseGrainedScheduler@{driver}"
    assert found["SPARK_LOCAL_DIRS"] in {mount["mountPath"] for mount in container["volumeMounts"]}
    [port] = container["ports"]
    policy = rendered("k8s-executors").one("NetworkPolicy", "-executor")["spec"]["ingress"][0]
    assert policy["ports"] == [{"port": port["containerPort"]}]


def test_its_command_starts_sparks_backend(pod: Manifest, tmp_path: Path) -> None:
    _write_java(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/arguments')
    done = _run(pod, tmp_path)
    assert done.returncode == 0, done.stderr
    arguments = (tmp_path / "arguments").read_text().splitlines()
    options, (backend, *rest) = arguments[: arguments.index(BACKEND)], arguments[arguments.index(BACKEND) :]
    assert backend == BACKEND
    assert {"-Dfirst=one two", "-Dsecond=2", "-Dspark.authenticate=true", "-Xmx8192m"} <= set(options)
    given = dict(zip(rest[::2], rest[1::2], strict=True))
    assert given["--driver-url"].startswith("spark://CoarseGrainedScheduler@trial-sluice-0.")
    assert (given["--executor-id"], given["--cores"], given["--hostname"]) == ("1", "4", "10.0.0.7")


def _run(pod: Manifest, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the container's command on this machine, as a kubelet would."""
    [container] = pod["spec"]["containers"]
    environment = {
        variable["name"]: variable["value"] for variable in container["env"] if "value" in variable
    }
    pod_ip = {"SPARK_EXECUTOR_POD_IP": "10.0.0.7", "SPARK_EXECUTOR_POD_NAME": pod["metadata"]["name"]}
    path = os.pathsep.join((str(folder), str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        [*container["command"], *container["args"]],
        env=environment | pod_ip | {"PATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def _write_java(folder: Path, line: str) -> None:
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n{line}\n")
    program.chmod(0o755)
