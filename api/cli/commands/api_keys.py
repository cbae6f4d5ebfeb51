"""`sluice keys`: creates, lists and revokes API keys directly in the metrics store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import orjson
import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel
from api.bootstrap.settings_loading import load_settings
from api.bootstrap.spelling import words_of
from api.bootstrap.wiring.build_authentication import opened_api_keys
from api.cli.commands.audited_commands import command_event, operator
from api.http.schemas.administration.api_keys import KeyBody, key_answer
from service.errors.credential_errors import ApiKeyNotFound
from service.errors.gateway_error import CannotStart
from service.model.audit.events import Action
from service.model.authentication.api_keys import ApiKey

LISTED_AT_MOST = 10_000
_COLUMNS = ("id", "principal", "roles", "state", "expires", "last used", "description")
_NOT_USED = "API keys are not accepted yet: set SLUICE_API_KEYS=true for the gateways."


def create(principal: str, roles: Sequence[str], description: str, expires_in_days: int | None) -> None:
    """Creates a key, and prints it as the only line on standard output.

    Raises:
        CannotStart: the request is invalid, or this version cannot use the metrics store.
        MetricsStoreDown: the metrics store does not answer.
    """
    asked = {
        "principal": principal,
        "roles": list(roles),
        "description": description,
        "expiresInDays": expires_in_days,
    }
    try:
        request = KeyBody.model_validate(asked).request()
    except ValidationError as error:
        raise CannotStart(_fault(error)) from None
    settings = load_settings()
    configure_logging(LogLevel.WARNING, LogFormat.CONSOLE)
    with opened_api_keys(settings) as (keys, log):
        made = keys.create(request, operator())
        # Before the key is printed: a key that is not audited is never known to anyone.
        log.add([command_event(Action.KEY_CREATED, made.key.key_id)])
    if not settings.api_keys:
        typer.echo(_NOT_USED, err=True)
    until = "does not expire" if made.key.expires_at is None else f"expires on {_day(made.key.expires_at)}"
    typer.echo(f"The key of {principal} {until}. It is shown only once:", err=True)
    typer.echo(made.text)


def list_keys(*, is_json: bool) -> None:
    """Prints all keys, without secrets.

    Raises:
        CannotStart: this version cannot use the metrics store.
        MetricsStoreDown: the metrics store does not answer.
    """
    settings = load_settings()
    configure_logging(LogLevel.WARNING, LogFormat.CONSOLE)
    with opened_api_keys(settings) as (keys, log):
        log.add([command_event(Action.KEYS_LISTED)])
        found = keys.newest(LISTED_AT_MOST)
        now = keys.clock.now()
    if is_json:
        shown = [key_answer(key).model_dump(mode="json", by_alias=True) for key in found]
        typer.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    table = Table(*_COLUMNS, box=None, pad_edge=False)
    for column in table.columns:
        # `keys revoke` needs the whole id.
        column.overflow, column.no_wrap = "fold", column.header == "id"
    for key in found:
        cells = (key.key_id, key.name, " ".join(sorted(key.roles)), _state(key, now))
        moments = (_day(key.expires_at), _day(key.last_used_at))
        table.add_row(*map(Text, (*cells, *moments, key.description)))
    Console().print(table)


def revoke(key_id: str) -> None:
    """Revokes a key at all replicas.

    Raises:
        ApiKeyNotFound: there is no such key.
        CannotStart: this version cannot use the metrics store.
        MetricsStoreDown: the metrics store does not answer.
    """
    settings = load_settings()
    configure_logging(LogLevel.WARNING, LogFormat.CONSOLE)
    with opened_api_keys(settings) as (keys, log):
        try:
            revoked = keys.revoke(key_id, operator())
        except ApiKeyNotFound as missing:
            log.add([command_event(Action.KEY_REVOKED, key_id, missing.code)])
            raise
        log.add([command_event(Action.KEY_REVOKED, key_id)])
    typer.echo(f"The key {key_id} of {revoked.name} is revoked. Every gateway refuses it within seconds.")


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= now else "valid"


def _day(moment: datetime | None) -> str:
    return "-" if moment is None else f"{moment:%Y-%m-%d}"


def _fault(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"The key cannot be made: {place}: {words_of(first)}."
