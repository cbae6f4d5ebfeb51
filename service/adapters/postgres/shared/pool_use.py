"""How many connections of an engine are in use."""

from __future__ import annotations

from sqlalchemy import Engine, QueuePool

from service.model.operations.usage import PoolUse


def pool_use(engine: Engine) -> PoolUse:
    """Returns the current use. `size` counts pooled connections; a few more may be open for a moment."""
    pool = engine.pool
    return PoolUse(pool.checkedout(), pool.size()) if isinstance(pool, QueuePool) else PoolUse(0, 0)
