"""Shows settings without their secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pydantic import SecretStr

from api.bootstrap.settings import Settings
from api.bootstrap.settings.recording.tracing import headers_of
from service.audit.audited_statements import ShownStatement, without_text

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
_NO_SECRETS = frozenset({"true", "false", "none", "null"})
"""Values of properties that are named like secrets, such as `token-refresh-enabled`."""
_ASSIGNED = re.compile(
    rf"((?:{_SECRET})[\w.-]{{0,64}}=)(\"[^\"]{{1,512}}\"|'[^']{{1,512}}'|[^&;,\s\"']+)", re.IGNORECASE
)
_API_KEY = re.compile(r"(sluice_[0-9a-f]{16}_)[A-Za-z0-9_-]{43}")
_ACCESS_TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{8,1024}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{0,1024}")
_HEADER = re.compile(
    r"((?:authorization|cookie)[\"']?\s{0,8}[:=]\s{0,8}[\"']?)[^\r\n\"']{1,4096}", re.IGNORECASE
)


PROPERTIES = (
    *("spark_conf", "stream_kafka_options", "ingest_source_properties", "lineage_kafka_options"),
    "results_properties",
)
"""Settings with properties of others: their names say which are secret. `catalogs` has one level more."""


def masked(settings: Settings) -> dict[str, Any]:
    """Returns every setting as plain JSON values, with `**********` for whatever looks like a secret."""
    dumped = settings.model_dump(mode="json")
    shown: dict[str, Any] = {name: _masked_value(value) for name, value in dumped.items()}
    shown["api_tokens"] = dict.fromkeys(dumped["api_tokens"], MASK)
    shown["catalogs"] = {
        name: _masked_properties(properties) for name, properties in dumped["catalogs"].items()
    }
    for name in PROPERTIES:
        shown[name] = _masked_properties(dumped[name])
    return shown


def _masked_properties(properties: dict[str, str]) -> dict[str, str]:
    return {
        name: MASK if _SECRET_NAME.search(name) else masked_text(value) for name, value in properties.items()
    }


def _masked_value(value: Any) -> Any:
    """Masks in the texts of other settings. An operator may have written a password into one."""
    match value:
        case str():
            return masked_text(value)
        case dict():
            return {name: _masked_value(inner) for name, inner in value.items()}
        case list():
            return [_masked_value(inner) for inner in value]
        case _:
            return value


def secrets_of(settings: Settings) -> frozenset[str]:
    """Returns the passwords and keys in these settings, as they are and as URLs encode them."""
    hidden = [text.get_secret_value() for _, text in settings if isinstance(text, SecretStr)]
    properties = [settings.catalogs, *(getattr(settings, name) for name in PROPERTIES)]
    texts = [*hidden, *_texts_in(settings.model_dump(mode="json"))]
    found = [match[1] for text in texts for match in _PASSWORD.finditer(text)]
    found += [match[1] for text in texts for match in _QUERY_PASSWORD.finditer(text)]
    found += [match[2].strip("\"'") for text in _texts_in(properties) for match in _ASSIGNED.finditer(text)]
    for value in _named_secrets(properties):
        # Some are a client's id with its secret.
        found += [value, value.partition(":")[2]]
    found += [text.get_secret_value() for text in settings.console_login_secrets.values()]
    if settings.lineage_api_key is not None:
        found.append(settings.lineage_api_key.get_secret_value())
    if settings.traces_headers is not None:
        for value in headers_of(settings.traces_headers.get_secret_value()).values():
            # Also a token without its scheme.
            found += [value, value.rpartition(" ")[2]]
    spelled = {*found, *map(unquote, found)}
    return frozenset(text for text in spelled if len(text) >= _SHORTEST_SECRET and text not in _NO_SECRETS)


def _texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts_in(inner)
        case list():
            for inner in value:
                yield from _texts_in(inner)


def _named_secrets(properties: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for group in properties:
        for name, value in group.items():
            if isinstance(value, dict):
                yield from _named_secrets([value])
            elif _SECRET_NAME.search(name):
                yield value


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
