"""Valid settings that may still not mean what the operator thinks."""

from __future__ import annotations

import os
from collections.abc import Iterator

from api.bootstrap.settings import CONFIG_FILE, Settings
from api.bootstrap.settings.serving.serving import is_loopback
from api.cli.part_checks import Found, State


def configuration(settings: Settings) -> Found:
    """Returns how many settings were given and where, and contradictions that do not prevent a start."""
    given = len(settings.model_fields_set)
    path = os.environ.get(CONFIG_FILE)
    origin = f"the environment and {path}" if path else "the environment"
    text = f"{given} settings given by {origin}, all others have their defaults"
    doubts = list(_doubts(settings))
    if not doubts:
        return Found(text)
    texts, cures = zip(*doubts, strict=True)
    return Found(" ".join((f"{text}.", *texts)), State.WARNING, " ".join(cures))


def _doubts(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yields what is odd, with its cure."""
    if settings.spark_jars and settings.spark_extra_packages:
        yield (
            "spark_jars is given, so spark_extra_packages has no effect.",
            "Add the packages' jars to spark_jars, or unset it.",
        )
    warehouse = settings.data_dir.expanduser().absolute() / "warehouse"
    has_hidden_lake = settings.catalogs and not settings.embedded_catalog and "lake" not in settings.catalogs
    if has_hidden_lake and warehouse.is_dir() and any(warehouse.iterdir()):
        yield (
            f"{warehouse} holds tables of the embedded catalog, which is not served.",
            "Set embedded_catalog to true to serve it.",
        )
    if settings.allow_unauthenticated and not settings.has_authentication and not is_loopback(settings.host):
        yield (
            f"Everyone who can reach {settings.host} may send any query.",
            "Set api_tokens, api_keys or oidc_issuers, unless only trusted callers reach this network.",
        )
