"""Names with passwords, and tokens, that nobody may be let in with."""

from __future__ import annotations

from tests.integration.protocols.conftest import Caller

WRONG_TOKENS = (
    "wrong",
    " ",
    "null",
    "undefined",
    "' OR '1'='1",
    "${jndi:ldap://x}",
    "../../etc/passwd",
    "%00",
    "a" * 20_000,
    "sluice_0123456789abcdef_" + "A" * 43,
    "sluice_' OR '1'='1_" + "A" * 43,
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.",
    "eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLy4uL2V0Yy9wYXNzd2QifQ.eyJzdWIiOiJhZG1pbiJ9.AAAA",
    "flight-" + "A" * 43,
)


def wrong_tokens(caller: Caller) -> list[str]:
    """Returns wrong tokens, and also changed forms of the caller's own."""
    token = caller.token
    changed = (token[:-1], token + "x", token.upper(), token[::-1], f"{token} {token}", f"{token},{token}")
    return [*WRONG_TOKENS, *changed]


def wrong_names(caller: Caller) -> list[str]:
    """Returns names that are not those of the caller's token."""
    return [
        "victim",
        "root",
        "anonymous",
        caller.role.upper(),
        f"{caller.role} ",
        "..",
        "' OR 1=1",
        "x" * 9_000,
    ]
