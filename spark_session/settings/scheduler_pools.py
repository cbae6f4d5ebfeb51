"""The pools of Spark's scheduler, when resource groups have pools of their own."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

WHOLE = 1_000
"""The weight of all queries together, and that of ingests."""
SHORT_WEIGHT = 4 * WHOLE

_POOL = """  <pool name={name}>
    <schedulingMode>FAIR</schedulingMode>
    <weight>{weight}</weight>
    <minShare>{min_share}</minShare>
  </pool>
"""


def scheduler_pools(shares: Mapping[str, float]) -> str:
    """Returns Spark's allocation file: a pool for each name with its share of all queries, 0 to 1.

    Spark never removes a pool, so each has to be named here. Queries that are planned, and reads of the
    gateway itself, are in the pool `queries`; short ones get one core first, and up to four fifths of all.

    >>> print(scheduler_pools({"queries.etl": 0.25}).split("queries.etl")[1].split("minShare")[0])
    ">
        <schedulingMode>FAIR</schedulingMode>
        <weight>250</weight>
        <
    """
    weights = {name: max(1, round(share * WHOLE)) for name, share in shares.items()}
    pools = [("queries", WHOLE, 0), ("short", SHORT_WEIGHT, 1), ("ingests", WHOLE, 0)]
    pools += [(name, weight, 0) for name, weight in weights.items()]
    written = (
        _POOL.format(name=quoteattr(name), weight=weight, min_share=share) for name, weight, share in pools
    )
    return f'<?xml version="1.0"?>\n<allocations>\n{"".join(written)}</allocations>\n'
