"""One catalog: opened when it is first needed, and opened again after a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

import structlog
from pydantic import ValidationError
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import ValidationError as NotValid

from service.adapters.catalogs.open_catalog import catalog_errors, close_catalog, open_catalog
from service.adapters.disk.synced_files import Sync
from service.errors.table_errors import TableUnreadable
from service.errors.unavailable import CatalogDown
from service.model.operations.fault_text import fault_text

T = TypeVar("T")

log = structlog.get_logger(__name__)


class CatalogConnection:
    """Queries one catalog. Thread-safe."""

    def __init__(self, name: str, properties: Mapping[str, str], timeout_s: float, sync: Sync) -> None:
        self._name = name
        self._properties = dict(properties)
        self._timeout_s = timeout_s
        self._sync = sync
        self._errors = catalog_errors()
        self._opening = threading.Lock()
        self._turn = threading.Lock()
        self._catalog: Catalog | None = None
        self._fault: str | None = None

    @property
    def fault(self) -> str | None:
        """Why the last question got no answer, without addresses or secrets; None if it got one."""
        return self._fault

    def ask(self, question: Callable[[Catalog], T]) -> T:
        """Returns the catalog's answer. PyIceberg's errors for something that does not exist pass through.

        Raises:
            CatalogDown: the catalog does not answer; the next question opens it again.
            TableUnreadable: PyIceberg cannot parse a table's metadata.
        """
        try:
            catalog = self._opened()
        except self._errors as error:
            raise self._down(error) from error
        try:
            with self._its_turn():
                answer = question(catalog)
        except self._errors as error:
            self._drop(catalog)
            raise self._down(error) from error
        except (ValidationError, NotValid) as error:
            found = error if isinstance(error, ValidationError) else error.__cause__
            if not isinstance(found, ValidationError):
                raise
            raise TableUnreadable(_not_understood(found)) from error
        self._note(None)
        return answer

    @contextmanager
    def out_of_turn(self) -> Iterator[None]:
        """Lets others ask during the block, which is part of a question and does not ask the catalog itself.

        After the block, the question goes on in its turn. The questions that it waits for are bounded.
        """
        if not self._takes_turns:
            yield
            return
        self._turn.release()
        try:
            yield
        finally:
            # Without a timeout: whoever asks releases the lock at the end, whoever has it by then.
            self._turn.acquire()

    def close(self) -> None:
        """Closes the catalog's connections, if it was opened. May be called again."""
        catalog = self._catalog
        if catalog is not None:
            self._drop(catalog)

    def _opened(self) -> Catalog:
        with self._locked(self._opening):
            if self._catalog is None:
                self._catalog = open_catalog(self._name, self._properties, self._timeout_s, self._sync)
            return self._catalog

    def _drop(self, catalog: Catalog) -> None:
        with self._locked(self._opening):
            if self._catalog is catalog:
                self._catalog = None
        close_catalog(catalog)

    @property
    def _takes_turns(self) -> bool:
        # PyIceberg's Hive client has one connection; the others have a pool, or one connection per call.
        return self._properties["type"] == "hive"

    def _its_turn(self) -> AbstractContextManager[None]:
        return self._locked(self._turn) if self._takes_turns else nullcontext()

    @contextmanager
    def _locked(self, lock: threading.Lock) -> Iterator[None]:
        if not lock.acquire(timeout=self._timeout_s):
            raise self._down(TimeoutError("another question is waited for"))
        try:
            yield
        finally:
            lock.release()

    def _down(self, error: Exception) -> CatalogDown:
        self._note(fault_text(type(error).__name__, str(error)))
        return CatalogDown(f"The catalog {self._name} does not answer.")

    def _note(self, fault: str | None) -> None:
        if fault is not None and fault != self._fault:
            log.warning("catalog_down", catalog=self._name, reason=fault)
        self._fault = fault


def _not_understood(error: ValidationError) -> str:
    # Not the whole message: it repeats the metadata, including the table's properties.
    reasons = "; ".join(dict.fromkeys(fault["msg"] for fault in error.errors(include_url=False)))
    return f"This gateway does not understand the table's metadata: {reasons:.300}."
