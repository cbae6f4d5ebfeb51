"""How many connections of an engine are in use."""

from __future__ import annotations

from sqlalchemy import Engine, QueuePool

from service.model.operations.usage import PoolUse


def pool_use(engine: Engine) -> PoolUse:
    """As it is now: `size` are those that are kept; beyond it, some are opened for a moment."""
    pool = engine.pool
    return PoolUse(pool.checkedout(), pool.size()) if isinstance(pool, QueuePool) else PoolUse(0, 0)
