"""The async twin of `Calling`."""

from __future__ import annotations

from typing import TypeVar

from sluice_client.calls import Flow
from sluice_client.drivers.async_driver import AsyncDriver
from sluice_client.retries import Context

T = TypeVar("T")


class AsyncCalling:
    """Runs flows with one driver. Subclasses say when they cannot."""

    _driver: AsyncDriver
    _context: Context

    def _check_open(self) -> None:
        """Checks that calls are possible.

        Raises:
            ConnectionClosed: they are not.
        """
        raise NotImplementedError

    async def _run(self, flow: Flow[T]) -> T:
        try:
            self._check_open()
        except BaseException:
            flow.close()
            raise
        return await self._driver.run(flow)
