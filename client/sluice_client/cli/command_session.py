"""A connection for one command: its address and credentials are chosen, and flows are run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from sluice_client.calls import Flow
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.exits import WrongUsage
from sluice_client.cli.profiles import DEFAULT_URL, Profile, config_file, read_profile, read_token
from sluice_client.cli.shared_session import SharedSession
from sluice_client.connecting import Connected, ConnectOptions, connected
from sluice_client.drivers.http_settings import checked_url
from sluice_client.drivers.sync_driver import SyncDriver
from sluice_client.options import QueryDefaults
from sluice_client.retries import Context
from sluice_client.settings import RetryPolicy, Timeouts

T = TypeVar("T")
_RETRIES = RetryPolicy(attempts=4, total_s=15)
"""A person waits: shorter than a program's."""
_TIMEOUTS = Timeouts(query_s=7 * 24 * 3600.0)
"""A query ends by `--timeout` or the gateway's own bound, or by Ctrl-C."""


class Session:
    """Runs the flows of the client. `with` closes its connections, and ends the session of its statements."""

    def __init__(self, chosen: Connected) -> None:
        self._driver = SyncDriver(chosen.http)
        self.context: Context = chosen.context
        self.defaults: QueryDefaults = chosen.defaults
        self.shared = SharedSession(chosen.context, chosen.defaults)

    def run(self, flow: Flow[T]) -> T:
        """Returns the flow's result.

        Raises:
            SluiceError: that of the flow.
        """
        return self._driver.run(flow)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._driver.run(self.shared.end())
        finally:
            self._driver.close()


def open_session(options: ConnectionOptions, environment: Mapping[str, str] = os.environ) -> Session:
    """Returns a session. Nothing is sent yet.

    Arguments come first, then a profile that was named, then the environment, then the default profile.

    Raises:
        WrongUsage: an argument, the environment or the configuration file is not valid.
    """
    name = options.profile or environment.get("SLUICE_PROFILE") or None
    profile = read_profile(config_file(environment), name)
    of_environment = environment.get("SLUICE_URL") or None
    by_rank = (profile.url, of_environment) if name else (of_environment, profile.url)
    url = next((known for known in (options.url, *by_rank) if known), DEFAULT_URL)
    try:
        if profile.url is not None and checked_url(url) != checked_url(profile.url):
            profile = profile.without_credentials()
        return Session(connected(url, _connect_options(options, profile, is_named=name is not None)))
    except ValueError as error:
        raise WrongUsage(str(error)) from None
    except OSError as error:
        # A message of OpenSSL has no file name.
        raise WrongUsage(f"a certificate, its key or --ca-file cannot be used: {error}") from None


def _connect_options(options: ConnectionOptions, profile: Profile, *, is_named: bool) -> ConnectOptions:
    found: ConnectOptions = {"progress": False, "retries": _RETRIES, "timeouts": _TIMEOUTS}
    token = _token(options, profile, is_named=is_named)
    if token is not None:
        found["token"] = token
    ca_file = options.ca_file or profile.ca_file
    if ca_file is not None:
        found["ca_file"] = ca_file
    certificate = options.certificate or profile.certificate
    key = options.key or profile.key
    if certificate is not None:
        found["certificate"] = (certificate, key or certificate)
    elif key is not None:
        raise WrongUsage("--key needs --certificate")
    if profile.catalog is not None:
        found["catalog"] = profile.catalog
    if profile.schema is not None:
        found["schema"] = profile.schema
    return found


def _token(options: ConnectionOptions, profile: Profile, *, is_named: bool) -> str | None:
    """Returns the token; None: that of the environment, if there is one."""
    if options.token_file is not None:
        return read_token(options.token_file)
    if os.environ.get("SLUICE_TOKEN", "").strip() and not is_named:
        return None
    if profile.token is not None:
        return profile.token.strip()
    return None if profile.token_file is None else read_token(Path(profile.token_file))
