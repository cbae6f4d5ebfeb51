"""What the server and those who start it both know. Importing the server itself would bring all of moto."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

KEY, SECRET = "TEST_STORE_KEY", "TEST_STORE_SECRET"
AGE, DENY = "/-/age", "/-/deny"
Action = Literal["list", "get", "put", "delete"]


@dataclass(frozen=True, slots=True)
class Denial:
    """What nobody may do with keys of this bucket that end so; with status 503, what nobody can now."""

    bucket: str
    action: Action
    ending: str = ""
    status: int = 403
