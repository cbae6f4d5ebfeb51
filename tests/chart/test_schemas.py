"""Every supported version of Kubernetes accepts the chart's manifests."""

from __future__ import annotations

from copy import deepcopy

import pytest

from tests.chart.kubernetes_schemas import DEFINED_BY_OPERATORS, VERSIONS, faults
from tests.chart.manifests import SETS_OF_VALUES, Rendered, helm, path_of, rendered


@pytest.mark.parametrize("set_of_values", SETS_OF_VALUES)
def test_helm_finds_no_fault(set_of_values: str) -> None:
    done = helm("lint", "--strict", str(path_of("")), "--values", str(SETS_OF_VALUES[set_of_values]))
    assert done.returncode == 0, done.stdout + done.stderr


def test_helm_finds_no_fault_with_the_values_as_they_are() -> None:
    done = helm("lint", "--strict", str(path_of("")))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_takes_the_manifests(made: Rendered, version: str) -> None:
    own = [manifest for manifest in made.manifests if manifest["kind"] not in DEFINED_BY_OPERATORS]
    found = {manifest["metadata"]["name"]: faults(manifest, version) for manifest in own}
    assert {name: messages for name, messages in found.items() if messages} == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_takes_the_executors_pod(version: str) -> None:
    [pod] = rendered("k8s-executors").executor_pods()
    assert faults(pod | {"metadata": pod["metadata"] | {"name": "executor"}}, version) == []


def test_the_schemas_are_strict() -> None:
    misspelt = deepcopy(rendered("smallest").one("StatefulSet"))
    misspelt["spec"]["template"]["spec"]["containers"][0]["securityContext"]["readonlyRootFilesystem"] = True
    [fault] = faults(misspelt, VERSIONS[-1])
    assert "readonlyRootFilesystem" in fault
