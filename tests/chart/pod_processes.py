"""Pods as processes of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.chart.manifests import Manifest


class Processes:
    """Runs the only container of each pod as a process of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.running: list[subprocess.Popen[bytes]] = []
        self.pods: list[Manifest] = []

    def start(self, pod: Manifest) -> None:
        [container] = pod["spec"]["containers"]
        environment = {
            variable["name"]: variable["value"] for variable in container["env"] if "value" in variable
        }
        environment |= {
            "SPARK_EXECUTOR_POD_IP": "127.0.0.1",
            "SPARK_EXECUTOR_POD_NAME": pod["metadata"]["name"],
            "SPARK_LOCAL_DIRS": str(self._folder),
            "HOME": str(self._folder),
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        }
        if "JAVA_HOME" in os.environ:
            environment["JAVA_HOME"] = os.environ["JAVA_HOME"]
        with (self._folder / f"{pod['metadata']['name']}.log").open("wb") as log:
            command = [*container["command"], *container["args"]]
            self.running.append(
                subprocess.Popen(
                    command, env=environment, cwd=self._folder, stdout=log, stderr=subprocess.STDOUT
                )
            )
        self.pods.append(pod)

    def stop(self) -> None:
        for process in self.running:
            process.kill()
            process.wait()
