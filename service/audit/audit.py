"""The audit of a gateway, as the HTTP edge uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.errors.unavailable import MetricsStoreDown
from service.model.audit.events import AuditEntry, AuditSelection
from service.ports.stores.audit_log import NO_TRAIL, AuditLog, AuditTrail


@dataclass(frozen=True, slots=True)
class Audit:
    """The way to the log, and the log itself, if there is one."""

    trail: AuditTrail
    log: AuditLog | None

    def entries(self, selection: AuditSelection) -> Sequence[AuditEntry]:
        """Returns the selected entries in the order of their positions.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        if self.log is None:
            raise MetricsStoreDown
        return self.log.entries(selection)


NO_AUDIT = Audit(NO_TRAIL, None)
"""The audit of a gateway that has none."""
