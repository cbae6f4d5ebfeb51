"""The manifests that the chart renders from values, read as Kubernetes would read them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from helm.generate.files import CHART
from tests.chart.helm_program import helm_program

Manifest = dict[str, Any]

RELEASE, NAMESPACE = "trial", "lake"
SETS_OF_VALUES = {path.name.removesuffix("-values.yaml"): path for path in sorted((CHART / "ci").iterdir())}
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")


@dataclass(frozen=True, slots=True)
class Rendered:
    """The manifests of one set of values."""

    manifests: tuple[Manifest, ...]

    def one(self, kind: str, ending: str = "") -> Manifest:
        """Returns the only manifest of this kind whose name ends in `ending`."""
        [found] = [
            manifest
            for manifest in self.of(kind)
            if manifest["metadata"]["name"] == f"{RELEASE}-sluice{ending}"
        ]
        return found

    def of(self, kind: str) -> list[Manifest]:
        """Returns all manifests of one kind."""
        return [manifest for manifest in self.manifests if manifest["kind"] == kind]

    def pods(self) -> Iterator[Manifest]:
        """Yields the specifications of all resulting pods, including those of executors."""
        for manifest in self.manifests:
            if manifest["kind"] in ("StatefulSet", "Job"):
                yield manifest["spec"]["template"]["spec"]
        yield from (pod["spec"] for pod in self.executor_pods())

    def executor_pods(self) -> Iterator[Manifest]:
        """Yields the template from which Spark makes executors, if there is one."""
        for config_map in self.of("ConfigMap"):
            if "executor.yaml" in config_map["data"]:
                yield yaml.safe_load(config_map["data"]["executor.yaml"])

    @property
    def gateway(self) -> Manifest:
        """The gateway's container."""
        container: Manifest = self.gateway_pod["containers"][0]
        return container

    @property
    def gateway_pod(self) -> Manifest:
        """The gateway's pod."""
        pod: Manifest = self.one("StatefulSet")["spec"]["template"]["spec"]
        return pod


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs helm to its end."""
    program = helm_program()
    assert program is not None
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=120)


@cache
def rendered(set_of_values: str) -> Rendered:
    """Renders one of the chart's own sets of values."""
    return render("--values", str(SETS_OF_VALUES[set_of_values]))


def render(*arguments: str) -> Rendered:
    """Renders the chart with these arguments of helm."""
    done = template(*arguments)
    assert done.returncode == 0, done.stderr
    return Rendered(tuple(manifest for manifest in yaml.safe_load_all(done.stdout) if manifest))


def template(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `helm template` with these arguments."""
    return helm("template", RELEASE, str(CHART), "--namespace", NAMESPACE, *arguments)


def environment_in_pod(container: Manifest, secret_of: Callable[[str], str]) -> dict[str, str]:
    """Returns the variables of a process in the container: references are resolved, and `$$` is a `$`.

    `secret_of` returns the Secret's value for a variable's name.
    """
    found: dict[str, str] = {}

    def resolved(match: re.Match[str]) -> str:
        return "$" if match[1] is None else found.get(match[1], match[0])

    for variable in container["env"]:
        if "value" in variable:
            found[variable["name"]] = _REFERENCE.sub(resolved, variable["value"])
        elif "fieldRef" in variable["valueFrom"]:
            found[variable["name"]] = f"{RELEASE}-sluice-0"
        else:
            assert variable["valueFrom"]["secretKeyRef"]["key"]
            found[variable["name"]] = secret_of(variable["name"])
    return found


def mappings_in(node: object) -> Iterator[dict[str, Any]]:
    """Yields all mappings in a manifest, outer ones first."""
    children: list[object] = []
    if isinstance(node, dict):
        yield node
        children = list(node.values())
    elif isinstance(node, list):
        children = node
    for child in children:
        yield from mappings_in(child)


def path_of(name: str) -> Path:
    """Returns the path of a file of the chart."""
    return CHART / name
