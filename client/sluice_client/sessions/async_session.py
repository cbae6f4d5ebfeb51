"""The async twin of `Session`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self
from uuid import UUID

from sluice_client.async_querying import AsyncQuerying
from sluice_client.drivers.async_driver import AsyncDriver
from sluice_client.errors import ConnectionClosed, SluiceError
from sluice_client.options import QueryDefaults
from sluice_client.progress.steps import Progress
from sluice_client.retries import Context
from sluice_client.session_calls import (
    SessionOptions,
    SessionState,
    create_session,
    end_session,
    get_session,
)


class AsyncSession(AsyncQuerying):
    """Queries that share a catalog, a schema, settings and temporary views: see `Session`."""

    def __init__(
        self,
        driver: AsyncDriver,
        context: Context,
        defaults: QueryDefaults,
        progress: Callable[[], Progress],
        options: SessionOptions,
        is_closed: Callable[[], bool],
    ) -> None:
        """`is_closed` says whether the connection of the session is closed."""
        super().__init__(driver, context, defaults, progress)
        self._options = options
        self._is_closed = is_closed
        self._has_ended = False
        self._opening = asyncio.Lock()

    @property
    def session_id(self) -> UUID | None:
        """The gateway's id of it; None before it is open."""
        return self._defaults.session_id

    async def open(self) -> Self:
        """Creates it at the gateway, unless that was done before. `async with` does the same."""
        async with self._opening:
            if self._defaults.session_id is None:
                self._check_usable()
                created = await self._driver.run(create_session(self._options, self._context))
                self._defaults = replace(self._defaults, session_id=created.session_id)
        return self

    async def state(self) -> SessionState:
        """Returns its values as they are now: see `Session.state`."""
        self._check_open()
        assert self._defaults.session_id is not None, "it is open"
        return await self._run(get_session(self._defaults.session_id, self._context))

    async def close(self) -> None:
        """Ends it. Its queries go on, and their results can be read. Closing twice is fine."""
        session_id = self._defaults.session_id
        if self._has_ended or session_id is None or self._is_closed():
            self._has_ended = True
            return
        self._has_ended = True
        await self._driver.run(end_session(session_id, self._context))

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.close()
        except SluiceError:
            # The first error counts. The gateway ends a session that is not used.
            if error is None:
                raise

    def __repr__(self) -> str:
        return f"<AsyncSession {self.session_id}{', closed' if self._has_ended else ''}>"

    def _check_open(self) -> None:
        self._check_usable()
        if self._defaults.session_id is None:
            raise ConnectionClosed("the session is not open yet: use it in `async with`, or await open()")

    def _check_usable(self) -> None:
        if self._has_ended:
            raise ConnectionClosed("the session is closed")
        if self._is_closed():
            raise ConnectionClosed("the connection of the session is closed")
