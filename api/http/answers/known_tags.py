"""Decides whether the client has an answer already (RFC 9110, section 13.1.2)."""

from __future__ import annotations


def is_known(if_none_match: str | None, tag: str) -> bool:
    r"""Whether the header If-None-Match has this strong ETag.

    Weak ones count, as the RFC says: a proxy that compresses an answer makes its ETag weak. `*` is any tag.

    >>> is_known('"a", W/"b"', '"b"'), is_known("*", '"b"'), is_known('"a"', '"b"'), is_known(None, '"b"')
    (True, True, False, False)
    """
    known = {each.strip().removeprefix("W/") for each in (if_none_match or "").split(",")}
    return tag in known or known == {"*"}
