"""Shows settings without their secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from api.bootstrap.settings import Settings
from service.audit.statements import ShownStatement, without_text

MASK = "**********"

_SECRET = (
    r"password|passwd|passphrase|pwd|secret|token|credential|key|authorization|cookie|connection[._-]?string"
    r"|signature|(?<![a-z])sas(?![a-z])|(?<![a-z])sig(?![a-z])"
)
_SECRET_NAME = re.compile(rf"{_SECRET}|jaas", re.IGNORECASE)
# Repetitions are bounded: texts come from outside, and no text may take long.
_URL_PASSWORD = re.compile(r"(://[^/\s:@]{0,256}:)\S{0,512}(@)")
_PASSWORD = re.compile(r"://[^/\s:@]{0,256}:(\S{1,512})@")
_QUERY_PASSWORD = re.compile(r"[?&]\w{0,32}password=([^&#]{1,512})")
_SHORTEST_SECRET = 4
_ASSIGNED = re.compile(
    rf"((?:{_SECRET})[\w.-]{{0,64}}=)(?:\"[^\"]{{1,512}}\"|'[^']{{1,512}}'|[^&;,\s\"']+)", re.IGNORECASE
)
_API_KEY = re.compile(r"(sluice_[0-9a-f]{16}_)[A-Za-z0-9_-]{43}")
_ACCESS_TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{8,1024}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{0,1024}")
_HEADER = re.compile(
    r"((?:authorization|cookie)[\"']?\s{0,8}[:=]\s{0,8}[\"']?)[^\r\n\"']{1,4096}", re.IGNORECASE
)


def masked(settings: Settings) -> dict[str, Any]:
    """Returns every setting as plain JSON values, with `**********` for whatever looks like a secret."""
    shown = settings.model_dump(mode="json")
    shown["api_tokens"] = dict.fromkeys(shown["api_tokens"], MASK)
    shown["catalogs"] = {
        name: _masked_properties(properties) for name, properties in shown["catalogs"].items()
    }
    for name in ("spark_conf", "stream_kafka_options", "ingest_source_properties"):
        shown[name] = _masked_properties(shown[name])
    return shown


def _masked_properties(properties: dict[str, str]) -> dict[str, str]:
    return {
        name: MASK if _SECRET_NAME.search(name) else masked_text(value) for name, value in properties.items()
    }


def secrets_of(settings: Settings) -> frozenset[str]:
    """Returns the passwords and keys in these settings, as they are and as URLs encode them."""
    urls = [settings.metrics_store_url, settings.filter_cache_url]
    texts = [url.get_secret_value() for url in urls if url is not None]
    groups = (
        *settings.catalogs.values(),
        settings.spark_conf,
        settings.stream_kafka_options,
        settings.ingest_source_properties,
    )
    texts += [value for group in groups for value in group.values()]
    passwords = [found[1] for text in texts if (found := _PASSWORD.search(text))]
    passwords += [found[1] for text in texts for found in _QUERY_PASSWORD.finditer(text)]
    named = [value for group in groups for name, value in group.items() if _SECRET_NAME.search(name)]
    spelled = {*passwords, *map(unquote, passwords), *named}
    # A shorter secret would be found in ordinary words.
    return frozenset(spelling for spelling in spelled if len(spelling) >= _SHORTEST_SECRET)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Masks the text as `masked_text` does, and each of these secrets wherever it occurs.

    >>> without_secrets("cannot log in as me with se@cret", ["se@cret"])
    'cannot log in as me with **********'
    """
    masked_whole = masked_text(text)
    for secret in sorted(secrets, key=len, reverse=True):
        masked_whole = masked_whole.replace(secret, MASK)
    return masked_whole


def without_credentials(text: str) -> str:
    """Masks API keys and access tokens only, so that a statement is still readable.

    >>> without_credentials("SELECT 'sluice_0123456789abcdef_" + "A" * 43 + "' WHERE token=7")
    "SELECT 'sluice_0123456789abcdef_**********' WHERE token=7"
    """
    return _ACCESS_TOKEN.sub(MASK, _API_KEY.sub(rf"\g<1>{MASK}", text))


def shown_statement(settings: Settings) -> ShownStatement:
    """Returns how statements appear in the audit log: without credentials, or not at all."""
    return without_credentials if settings.audit_statement_text else without_text


def masked_text(value: str) -> str:
    """Masks API keys, access tokens, and the passwords in URLs, assignments and headers of the text.

    >>> masked_text("postgresql://me:se@cret@host/db?sslpassword=x&a=b")
    'postgresql://me:**********@host/db?sslpassword=**********&a=b'
    >>> masked_text("Authorization: Bearer abc")
    'Authorization: **********'
    """
    for pattern, shown in (
        (_HEADER, rf"\g<1>{MASK}"),
        (_URL_PASSWORD, rf"\g<1>{MASK}\g<2>"),
        (_ASSIGNED, rf"\g<1>{MASK}"),
        (_API_KEY, rf"\g<1>{MASK}"),
        (_ACCESS_TOKEN, MASK),
    ):
        value = pattern.sub(shown, value)
    return value
