"""The CPU time of the tasks of each query."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext

from service.errors.unavailable import EngineLost
from spark_session.java.jvm import UNREACHABLE
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

_QUERY_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class CpuTimeReader:
    """Asks `CpuTimes.java`, which listens to the tasks of one context from now on."""

    def __init__(self, gateway: JavaGateway, context: SparkContext) -> None:
        self._java = java_instance(gateway, "sluice.engine.CpuTimes")
        context._jsc.sc().addSparkListener(self._java)

    def taken(self) -> Mapping[UUID, int]:
        """Returns by query the milliseconds that were not returned before.

        Raises:
            EngineLost: the JVM does not answer.
        """
        try:
            return cpu_times_of(str(self._java.taken()))
        except (Py4JJavaError, *UNREACHABLE) as failure:
            raise EngineLost from failure


def cpu_times_of(text: str) -> Mapping[UUID, int]:
    """Returns the listener's JSON by query; tags of other jobs are left out.

    >>> of = "6f1d2a4e-8c35-4b0f-9a57-3d1c6e20b794"
    >>> list(cpu_times_of(f'{{"{of},progress": 12, "warm-up": 5, "{of}": 3}}').values())
    [15]
    """
    found: Counter[UUID] = Counter()
    for tags, cpu_ms in json.loads(text).items():
        for query_id in _QUERY_ID.findall(tags):
            found[UUID(query_id)] += cpu_ms
    return found
