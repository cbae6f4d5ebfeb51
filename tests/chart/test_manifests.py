"""Checks for every set of values: no rights, no visible secrets, and consistent times and ports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from api.bootstrap.settings import Settings
from api.cli.stop_deadline import STOPPED_WITHIN_S
from tests.chart.manifests import (
    SETS_OF_VALUES,
    Manifest,
    Rendered,
    helm,
    mappings_in,
    path_of,
    render,
    rendered,
)

MEMORY = re.compile(r"(\d+)([KMGT]i?)?")
IN_BYTES = {"Mi": 1024**2, "Gi": 1024**3}


def containers(made: Rendered) -> Iterator[Manifest]:
    for pod in made.pods():
        yield from pod["containers"]
        yield from pod.get("initContainers", ())


def setting(made: Rendered, name: str) -> str:
    """Returns a setting as the pod has it, or its default."""
    found = {variable["name"]: variable.get("value") for variable in made.gateway["env"]}
    return str(found.get(f"SLUICE_{name.upper()}") or Settings.model_fields[name].default)


def test_nothing_runs_as_root(made: Rendered) -> None:
    for pod in made.pods():
        security = pod["securityContext"]
        assert security["runAsNonRoot"]
        assert security["runAsUser"] > 0
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()


def test_containers_have_no_rights_and_a_root_that_is_read_only(made: Rendered) -> None:
    for container in containers(made):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_volumes_are_the_clusters_own_and_bounded(made: Rendered) -> None:
    for pod in made.pods():
        for volume in pod["volumes"]:
            assert "hostPath" not in volume
            assert "sizeLimit" in volume.get("emptyDir", {"sizeLimit": ""})


def test_every_container_says_what_it_takes(made: Rendered) -> None:
    executors = [pod["spec"] for pod in made.executor_pods()]
    for pod in made.pods():
        # Spark itself writes the resources of executors.
        for container in [] if pod in executors else pod["containers"]:
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
            assert "memory" in container["resources"]["limits"]
    asked, most = (made.gateway["resources"][kind] for kind in ("requests", "limits"))
    assert asked["memory"] == most["memory"]
    assert int(asked["cpu"]) <= int(most["cpu"])


def test_the_heap_leaves_room_for_the_rest(made: Rendered) -> None:
    amount, unit = MEMORY.fullmatch(made.gateway["resources"]["limits"]["memory"]).groups()  # type: ignore[union-attr]
    heap = setting(made, "spark_driver_memory")
    assert int(amount) * IN_BYTES[unit] >= int(heap[:-1]) * 1024**3 + 2 * 1024**3


def test_only_a_driver_that_starts_executors_may_speak_to_the_api(made: Rendered) -> None:
    is_kubernetes = setting(made, "spark_master").startswith("k8s://")
    assert made.gateway_pod["automountServiceAccountToken"] is is_kubernetes
    assert len(made.of("Role")) == len(made.of("RoleBinding")) == int(is_kubernetes)
    for pod in made.pods():
        assert pod is made.gateway_pod or pod["automountServiceAccountToken"] is False
    assert all(
        service_account["automountServiceAccountToken"] is False
        for service_account in made.of("ServiceAccount")
    )


def test_a_driver_has_rights_in_its_namespace_alone() -> None:
    made = rendered("k8s-executors")
    assert not made.of("ClusterRole")
    assert not made.of("ClusterRoleBinding")
    [rule] = made.one("Role", "-driver")["rules"]
    assert set(rule["resources"]) == {"pods", "configmaps", "services", "persistentvolumeclaims"}
    assert "*" not in rule["verbs"]
    [subject] = made.one("RoleBinding", "-driver")["subjects"]
    assert subject["name"] == made.gateway_pod["serviceAccountName"]
    [executor] = made.executor_pods()
    assert executor["spec"]["automountServiceAccountToken"] is False


def test_secrets_are_references_alone(made: Rendered) -> None:
    assert not made.of("Secret")
    for config_map in made.of("ConfigMap"):
        text = str(config_map["data"])
        assert not re.search(r"(?i:password|credential|secret)|SLUICE_", text)
    for mapping in mappings_in(list(made.manifests)):
        if isinstance(mapping.get("value"), str):
            assert not re.search(r"://[^/@$]*:[^/@$]+@", mapping["value"])


def test_the_drain_is_shorter_than_the_grace(made: Rendered) -> None:
    grace = made.gateway_pod["terminationGracePeriodSeconds"]
    pause = made.gateway["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pause >= made.gateway["readinessProbe"]["periodSeconds"]
    # The last term is when the process ends itself by force; Kubernetes must not do so earlier.
    stop = float(setting(made, "shutdown_delay_s")) + float(setting(made, "shutdown_timeout_s"))
    assert pause + stop + STOPPED_WITHIN_S < grace


def test_a_longer_drain_has_a_longer_grace() -> None:
    grace = [
        rendered(set_of_values).gateway_pod["terminationGracePeriodSeconds"]
        for set_of_values in ("smallest", "production")
    ]
    assert grace == [65, 155]


def test_probes_wait_for_the_answer(made: Rendered) -> None:
    gateway = made.gateway
    named = {variable["name"] for variable in gateway["env"]}
    scheme = {"scheme": "HTTPS"} if "SLUICE_TLS_CERTIFICATE_FILE" in named else {}
    for probe in (gateway["startupProbe"], gateway["readinessProbe"]):
        assert probe["httpGet"] == {"path": "/readyz", "port": "http"} | scheme
        assert probe["timeoutSeconds"] > float(setting(made, "health_timeout_s"))
    assert gateway["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "http"} | scheme
    assert gateway["startupProbe"]["periodSeconds"] * gateway["startupProbe"]["failureThreshold"] >= 600


def test_ports_agree(made: Rendered) -> None:
    ports = {port["name"]: port["containerPort"] for port in made.gateway["ports"]}
    assert ports["http"] == int(setting(made, "port"))
    for service in (made.one("Service"), made.one("Service", "-driver")):
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports.keys()
    headless = {port["name"]: port["port"] for port in made.one("Service", "-driver")["spec"]["ports"]}
    assert headless == ports
    for rule in made.one("NetworkPolicy")["spec"]["ingress"]:
        assert {port["port"] for port in rule["ports"]} <= ports.keys()


def test_clients_reach_every_protocol(made: Rendered) -> None:
    protocols = {"hive": setting(made, "hive_port"), "flight": setting(made, "flight_port")}
    expected = {"http"} | {name for name, port in protocols.items() if port != "None"}
    ports = {port["name"]: port["containerPort"] for port in made.gateway["ports"]}
    assert {name: str(ports[name]) for name in expected - {"http"}} == {
        name: protocols[name] for name in expected - {"http"}
    }
    assert {port["name"] for port in made.one("Service")["spec"]["ports"]} == expected
    clients = made.one("NetworkPolicy")["spec"]["ingress"][0]
    assert {port["port"] for port in clients["ports"]} == expected


@pytest.mark.parametrize("set_of_values", ["k8s-executors", "standalone", "air-gapped"])
def test_spark_gets_the_ports_that_are_open(set_of_values: str) -> None:
    made = rendered(set_of_values)
    ports = {port["name"]: str(port["containerPort"]) for port in made.gateway["ports"]}
    [conf] = [
        variable["value"] for variable in made.gateway["env"] if variable["name"] == "SLUICE_SPARK_CONF"
    ]
    assert f'"spark.driver.port":"{ports["driver"]}"' in conf
    assert f'"spark.driver.blockManager.port":"{ports["blocks"]}"' in conf


def test_only_executors_reach_the_drivers_ports(made: Rendered) -> None:
    mode = setting(made, "spark_master").partition(":")[0]
    rules = made.one("NetworkPolicy")["spec"]["ingress"]
    found = [rule for rule in rules if {"port": "driver"} in rule["ports"]]
    assert len(found) == (1 if mode in ("k8s", "spark") else 0)
    for rule in found:
        [peer] = rule["from"]
        if mode == "k8s":
            [pod] = made.executor_pods()
            assert peer["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    gateway = made.one("StatefulSet")["spec"]
    labels = gateway["template"]["metadata"]["labels"]
    assert made.one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    for pod in made.executor_pods():
        assert not gateway["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()


def test_selectors_find_their_pods(made: Rendered) -> None:
    found = [
        stateful_set["spec"]["template"]["metadata"]["labels"] for stateful_set in made.of("StatefulSet")
    ]
    for service in made.of("Service"):
        assert sum(service["spec"]["selector"].items() <= labels.items() for labels in found) == 1
    for budget in made.of("PodDisruptionBudget"):
        assert budget["spec"]["selector"] == made.one("StatefulSet")["spec"]["selector"]


def test_what_is_named_is_there(made: Rendered) -> None:
    accounts = {service_account["metadata"]["name"] for service_account in made.of("ServiceAccount")}
    assert made.gateway_pod["serviceAccountName"] in accounts | {"data-reader"}
    made_here = {config_map["metadata"]["name"] for config_map in made.of("ConfigMap")}
    named = [volume["configMap"]["name"] for volume in made.gateway_pod["volumes"] if "configMap" in volume]
    assert set(named) <= made_here | {"authority"}
    claims = {claim["metadata"]["name"] for claim in made.of("PersistentVolumeClaim")}
    for mapping in mappings_in(list(made.manifests)):
        assert mapping.get("claimName", "") in claims | {""}
    for mount in made.gateway["volumeMounts"]:
        assert mount["name"] in {volume["name"] for volume in made.gateway_pod["volumes"]}


def test_the_autoscaler_sets_the_number_alone() -> None:
    made = rendered("production")
    assert "replicas" not in made.one("StatefulSet")["spec"]
    scaler = made.one("HorizontalPodAutoscaler")["spec"]
    assert scaler["scaleTargetRef"]["kind"] == "StatefulSet"
    assert scaler["scaleTargetRef"]["name"] == made.one("StatefulSet")["metadata"]["name"]
    queue, cpu = scaler["metrics"]
    assert queue["pods"]["metric"]["selector"] == {"matchLabels": {"state": "QUEUED"}}
    assert cpu["containerResource"]["container"] == made.gateway["name"]


def test_a_single_gateway_may_be_evicted() -> None:
    assert not rendered("smallest").of("PodDisruptionBudget")
    assert len(rendered("production").of("PodDisruptionBudget")) == 1


def test_the_migration_comes_before_the_gateways() -> None:
    [job] = rendered("production").of("Job")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    # Nothing of the release exists yet.
    pod = job["spec"]["template"]["spec"]
    assert "serviceAccountName" not in pod
    assert all("configMap" not in volume for volume in pod["volumes"])


def test_gateways_are_spread_unless_the_operator_says_otherwise() -> None:
    spread = rendered("production").gateway_pod["topologySpreadConstraints"]
    assert {constraint["topologyKey"] for constraint in spread} == {
        "topology.kubernetes.io/zone",
        "kubernetes.io/hostname",
    }
    selector = rendered("production").one("StatefulSet")["spec"]["selector"]
    assert all(constraint["labelSelector"] == selector for constraint in spread)
    assert "topologySpreadConstraints" not in rendered("air-gapped").gateway_pod


def test_images_come_from_the_registry_that_is_named() -> None:
    digest = rendered("production").gateway["image"].partition("@")[2]
    for set_of_values, registry in (
        ("production", "registry.example/"),
        ("air-gapped", "registry.internal:5000/"),
    ):
        made = rendered(set_of_values)
        for pod in made.pods():
            for container in (*pod["containers"], *pod.get("initContainers", ())):
                # Spark sets the image of executors.
                assert container.get("image", registry).startswith(registry)
    assert len(digest) == len("sha256:") + 64
    [conf] = [
        variable
        for variable in rendered("air-gapped").gateway["env"]
        if variable["name"] == "SLUICE_SPARK_CONF"
    ]
    assert '"spark.kubernetes.container.image":"registry.internal:5000/mirror/sluice:0.1.0"' in conf["value"]
    assert '"spark.kubernetes.container.image.pullSecrets":"mirror"' in conf["value"]


def test_what_the_operator_adds_is_there(tmp_path: Path) -> None:
    values = tmp_path / "values.json"
    added = {"name": "added", "image": "busybox", "command": ["true"]}
    toleration = {"key": "gateways", "operator": "Exists"}
    values.write_text(
        json.dumps(
            {
                "settings": {"allow_unauthenticated": True, "port": 9090},
                "fullnameOverride": "lakehouse",
                "commonLabels": {"team": "data"},
                "podLabels": {"tier": "edge"},
                "podAnnotations": {"note": "it"},
                "initContainers": [added],
                "extraContainers": [added],
                "extraEnv": [{"name": "TZ", "value": "UTC"}],
                "extraVolumes": [{"name": "extra", "emptyDir": {"sizeLimit": "1Mi"}}],
                "extraVolumeMounts": [{"name": "extra", "mountPath": "/extra"}],
                "nodeSelector": {"pool": "gateways"},
                "tolerations": [toleration],
                "affinity": {"nodeAffinity": {}},
                "priorityClassName": "high",
            }
        )
    )
    made = render("--values", str(values))
    [gateways] = made.of("StatefulSet")
    template = gateways["spec"]["template"]
    pod = template["spec"]
    assert gateways["metadata"]["name"] == "lakehouse"
    assert template["metadata"]["labels"].items() >= {"team": "data", "tier": "edge"}.items()
    assert template["metadata"]["annotations"]["note"] == "it"
    assert pod["initContainers"] == [added]
    assert pod["containers"][1] == added
    assert {"name": "TZ", "value": "UTC"} in pod["containers"][0]["env"]
    assert pod["containers"][0]["ports"][0]["containerPort"] == 9090
    assert {"name": "extra", "mountPath": "/extra"} in pod["containers"][0]["volumeMounts"]
    assert pod["volumes"][-1]["name"] == "extra"
    assert (pod["nodeSelector"], pod["tolerations"]) == ({"pool": "gateways"}, [toleration])
    assert (pod["affinity"], pod["priorityClassName"]) == ({"nodeAffinity": {}}, "high")


def test_names_fit_however_long_the_releases_name_is() -> None:
    done = helm("template", "r" * 53, str(path_of("")), "--values", str(SETS_OF_VALUES["trial"]))
    names = [manifest["metadata"]["name"] for manifest in yaml.safe_load_all(done.stdout) if manifest]
    assert done.returncode == 0
    # The names of a service, and of a pod with its number, are DNS labels.
    assert max(map(len, names)) <= 58
