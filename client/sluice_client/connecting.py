"""The common part of `connect` and `connect_async`: arguments in, checked settings out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TypedDict

from sluice_client.drivers.http_settings import Certificate, HttpSettings, checked_url, tls_context
from sluice_client.options import QueryDefaults
from sluice_client.progress.choose_progress import MakeProgress
from sluice_client.retries import Context
from sluice_client.secrets import TokenSource, token_of
from sluice_client.settings import Bounds, RetryPolicy, Timeouts


class ConnectOptions(TypedDict, total=False):
    """The keyword arguments of `connect`."""

    token: TokenSource
    """A token, API key or access token; or a function that returns the one that is valid now.

    Unset: that of the environment variable `SLUICE_TOKEN`.
    """
    certificate: Certificate
    """The client's own certificate: its file, its key's file, and the key's password if it has one."""
    ca_file: str | PathLike[str]
    """The authorities that may sign the gateway's certificate, instead of the public ones."""
    catalog: str
    """For names without a catalog, in all queries."""
    schema: str
    """For names without a schema, in all queries."""
    tags: Mapping[str, str]
    """Kept with the records of all queries."""
    retries: RetryPolicy
    timeouts: Timeouts
    bounds: Bounds
    progress: bool | MakeProgress
    """Whether progress is shown, or what makes its display. Unset: in notebooks, and on terminals."""


@dataclass(frozen=True, slots=True)
class Connected:
    """The settings of one connection."""

    http: HttpSettings
    context: Context
    defaults: QueryDefaults


def connected(url: str, options: ConnectOptions, now: Callable[[], float] = time.monotonic) -> Connected:
    """Checks the arguments of `connect`.

    Raises:
        ValueError: one of them is not valid.
        OSError: a file of a certificate cannot be read.
    """
    base_url = checked_url(url)
    timeouts = options.get("timeouts", Timeouts())
    http = HttpSettings(
        base_url=base_url,
        token=token_of(options.get("token")),
        verify=tls_context(options.get("ca_file"), options.get("certificate")),
        timeouts=timeouts,
    )
    context = Context(
        base_url=base_url,
        retries=options.get("retries", RetryPolicy()),
        timeouts=timeouts,
        bounds=options.get("bounds", Bounds()),
        now=now,
    )
    defaults = QueryDefaults(
        catalog=options.get("catalog"), schema=options.get("schema"), tags=options.get("tags", {})
    )
    return Connected(http, context, defaults)
