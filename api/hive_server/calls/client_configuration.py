"""The configuration that clients open a session with."""

from __future__ import annotations

from collections.abc import Mapping

from service.errors.session_errors import SessionSettingRefused

PROXY_USER = "hive.server2.proxy.user"
_DATABASE = "use:database"
_CATALOG = "use:catalog"
_HIVE_SETTING, _HIVE_VARIABLE = "set:hiveconf:", "set:hivevar:"
_PREFIXES = (_HIVE_SETTING, "set:system:", "set:")
_IRRELEVANT = ("hive.", "mapred.", "mapreduce.", "tez.", "impala.")
"""Settings of other engines: they cannot change what Spark answers."""


def database_of(configuration: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Returns the catalog and the schema that a client names. A name with a dot has both.

    >>> database_of({"use:database": "lake.shop"}), database_of({"use:database": "shop"}), database_of({})
    (('lake', 'shop'), (None, 'shop'), (None, None))
    """
    catalog, database = configuration.get(_CATALOG) or None, configuration.get(_DATABASE) or None
    if catalog is None and database is not None and "." in database:
        catalog, _, database = database.partition(".")
    return catalog, database


def settings_of(configuration: Mapping[str, str]) -> Mapping[str, str]:
    """Returns the settings that a session has to take or to refuse. Those of Hive itself are left out.

    >>> settings_of({"spark.sql.ansi.enabled": "false", "set:hiveconf:hive.exec.parallel": "true"})
    {'spark.sql.ansi.enabled': 'false'}

    Raises:
        SessionSettingRefused: a variable is set, which no statement would see.
    """
    found: dict[str, str] = {}
    for key, value in configuration.items():
        if key.startswith(_HIVE_VARIABLE):
            raise SessionSettingRefused(
                "Statements have no variables here: write their values into the text."
            )
        prefix = next((prefix for prefix in _PREFIXES if key.startswith(prefix)), "")
        name = key[len(prefix) :]
        if name not in (_DATABASE, _CATALOG) and not name.startswith(_IRRELEVANT):
            found[name] = value
    return found
