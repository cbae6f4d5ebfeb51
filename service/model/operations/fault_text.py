"""Texts of failures that may be shown to whoever can reach the health routes."""

from __future__ import annotations

import re

_CHARACTERS = 300
# Addresses contain hosts and users, and often passwords.
_ADDRESS = re.compile(r"(\b[a-z][a-z0-9+]*(?::[a-z0-9]+)*):(?://|/|@)[^\s\"']+", re.IGNORECASE)
_HOST = re.compile(r"""(host=|at )(?:(["'])[^"']*\2|(?<=host=)[^\s"',)>]+)""")
_PARAMETER = re.compile(r"(?i)\b([\w.-]*(?:password|passwd|secret|token|credential|key)[\w.-]*)\s*[=:]\s*\S+")


def fault_text(class_name: str, message: str) -> str:
    r"""Returns an exception's class and the first line of its message, without addresses and secrets.

    >>> fault_text("SQLException", "No suitable driver found for jdbc:sqlite:/data/lake.db")
    'SQLException: No suitable driver found for jdbc:sqlite:…'
    >>> fault_text("OperationalError", 'postgresql://u:p@db/lake failed, password=x\nDETAIL')
    'OperationalError: postgresql:… failed, password=…'
    >>> fault_text("OperationalError", 'connection to server at "db.example" failed')
    'OperationalError: connection to server at … failed'
    >>> fault_text("MasterNotFoundError", "No master: <Connection(host=10.0.0.1,port=26379)>")
    'MasterNotFoundError: No master: <Connection(host=…,port=26379)>'
    >>> fault_text("ConnectException", "")
    'ConnectException'
    """
    line = message.strip().split("\n", 1)[0]
    without_hosts = _HOST.sub(r"\1…", _ADDRESS.sub(r"\1:…", line))
    text = _PARAMETER.sub(r"\1=…", without_hosts)[:_CHARACTERS]
    return f"{class_name}: {text}" if text else class_name
