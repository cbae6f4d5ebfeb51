"""An upgrade between any two sets of values changes no field that is immutable in Kubernetes."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from tests.chart.manifests import SETS_OF_VALUES, Manifest, rendered

IMMUTABLE = {
    "StatefulSet": ("selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates"),
    "Service": ("clusterIP",),
    "PersistentVolumeClaim": ("accessModes", "storageClassName", "volumeName"),
    "PodDisruptionBudget": (),
}


@pytest.mark.parametrize(("before", "after"), list(permutations(SETS_OF_VALUES, 2)))
def test_an_upgrade_changes_nothing_immutable(before: str, after: str) -> None:
    old = {_key(manifest): manifest for manifest in rendered(before).manifests}
    for new in rendered(after).manifests:
        if _key(new) in old and not _is_hook(new):
            assert _immutable(new) == _immutable(old[_key(new)])


def _immutable(manifest: Manifest) -> dict[str, Any]:
    found = {name: manifest["spec"].get(name) for name in IMMUTABLE.get(manifest["kind"], ())}
    return found | ({"roleRef": manifest["roleRef"]} if manifest["kind"] == "RoleBinding" else {})


def _key(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]


def _is_hook(manifest: Manifest) -> bool:
    return "helm.sh/hook" in manifest["metadata"].get("annotations", {})
