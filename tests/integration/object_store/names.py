"""The names that server and clients share. Importing the server itself would import all of moto."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

KEY, SECRET = "TEST_STORE_KEY", "TEST_STORE_SECRET"
AGE, DENY = "/-/age", "/-/deny"
Action = Literal["list", "get", "put", "delete"]


@dataclass(frozen=True, slots=True)
class Denial:
    """An action on keys with this ending that is forbidden, or that fails for now if the status is 503."""

    bucket: str
    action: Action
    ending: str = ""
    status: int = 403
