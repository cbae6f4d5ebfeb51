"""The error of a message that cannot be read."""

from __future__ import annotations


class MessageFault(Exception):
    """The bytes are not a message of this protocol, or one beyond a bound. The connection cannot go on."""
