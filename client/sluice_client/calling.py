"""The common base of what runs flows in blocking code: a connection, and a session in it."""

from __future__ import annotations

from typing import TypeVar

from sluice_client.calls import Flow
from sluice_client.drivers.sync_driver import SyncDriver
from sluice_client.retries import Context

T = TypeVar("T")


class Calling:
    """Runs flows with one driver. Subclasses say when they cannot."""

    _driver: SyncDriver
    _context: Context

    def _check_open(self) -> None:
        """Checks that calls are possible.

        Raises:
            ConnectionClosed: they are not.
        """
        raise NotImplementedError

    def _run(self, flow: Flow[T]) -> T:
        try:
            self._check_open()
        except BaseException:
            flow.close()
            raise
        return self._driver.run(flow)
