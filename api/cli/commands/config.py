"""`sluice config`: the settings of this environment."""

from __future__ import annotations

import orjson
import typer

from api.bootstrap.settings_loading import load_settings
from api.bootstrap.settings_page import settings_page
from api.bootstrap.shown_settings import masked


def config(*, is_describing: bool) -> None:
    """Prints the settings with secrets masked, or the meaning of each setting.

    Raises:
        CannotStart: the settings are not valid.
    """
    if is_describing:
        typer.echo(settings_page(), nl=False)
    else:
        typer.echo(orjson.dumps(masked(load_settings()), option=orjson.OPT_INDENT_2).decode())
