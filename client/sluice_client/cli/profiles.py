"""The configuration file: addresses, tokens and defaults by profile.

A token and a certificate of a profile go to the profile's own address only.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sluice_client.cli.exits import WrongUsage

DEFAULT_URL = "http://127.0.0.1:8080"
_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One `[profiles.NAME]` of the file. Paths are relative to the file's folder."""

    url: str | None = None
    token: str | None = None
    token_file: str | None = None
    ca_file: str | None = None
    certificate: str | None = None
    key: str | None = None
    catalog: str | None = None
    schema: str | None = None

    def without_credentials(self) -> Profile:
        """Returns what may be used with any address."""
        return Profile(url=self.url, catalog=self.catalog, schema=self.schema)


NO_PROFILE = Profile()
_NAMES = frozenset(field.name for field in fields(Profile))


def config_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the path of the configuration file, in the user's folder for configurations."""
    folder = environment.get("XDG_CONFIG_HOME", "")
    return (
        (Path(folder) if Path(folder).is_absolute() else Path.home() / ".config") / "sluice" / "config.toml"
    )


def read_profile(path: Path, name: str | None) -> Profile:
    """Returns a profile: the one of this name, or `default_profile`, or the one called `default`, or none.

    Raises:
        WrongUsage: there is no such profile, the file is not valid, or others may read its token.
    """
    values = _values(path, is_needed=name is not None)
    profiles = values.get("profiles", {})
    if not isinstance(profiles, dict) or not set(values) <= {"profiles", "default_profile"}:
        raise WrongUsage(f"{path}: it may have default_profile and [profiles.NAME] only")
    asked = name or values.get("default_profile")
    chosen = asked or "default"
    if chosen not in profiles:
        if asked is None:
            return NO_PROFILE
        raise WrongUsage(f"{path}: there is no profile {chosen}")
    profile = _profile(profiles[chosen], f"{path}: profile {chosen}")
    if profile.token is not None:
        refuse_if_shared(path)
    return _with_paths(profile, path.parent)


def read_token(path: Path) -> str:
    """Returns the token in a file.

    Raises:
        WrongUsage: the file cannot be read, others may read it, or it does not have one token.
    """
    refuse_if_shared(path)
    token = _read(path).decode("utf-8", errors="replace").strip()
    if not token:
        raise WrongUsage(f"{path}: there is no token in it")
    return token


def refuse_if_shared(path: Path) -> None:
    """Refuses a file with a secret that this user owns and others may read.

    Raises:
        WrongUsage: they may, or there is no such file.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}") from None
    if os.name == "posix" and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) & 0o077:
        raise WrongUsage(f"{path}: others may read the token in it; run: chmod 600 {path}")


def _values(path: Path, *, is_needed: bool) -> dict[str, Any]:
    if not is_needed and not path.exists():
        return {}
    try:
        return tomllib.loads(_read(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        # The parser's own message may show a part of a token.
        raise WrongUsage(f"{path}: it is not valid TOML") from None


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}") from None
    if len(data) > _MAX_BYTES:
        raise WrongUsage(f"{path}: it is larger than {_MAX_BYTES} bytes")
    return data


def _profile(values: object, place: str) -> Profile:
    if not isinstance(values, dict):
        raise WrongUsage(f"{place} is not a table")
    for name, value in values.items():
        if name not in _NAMES:
            raise WrongUsage(f"{place} has an unknown name {name}; known are {', '.join(sorted(_NAMES))}")
        if not isinstance(value, str):
            raise WrongUsage(f"{place}: {name} is not text")
    profile = Profile(**values)
    if profile.url is None and profile != profile.without_credentials():
        raise WrongUsage(f"{place} has credentials: it needs the url that they are for")
    return profile


def _with_paths(profile: Profile, folder: Path) -> Profile:
    def path(text: str | None) -> str | None:
        return None if text is None else str(folder / Path(text).expanduser())

    return Profile(
        url=profile.url,
        token=profile.token,
        token_file=path(profile.token_file),
        ca_file=path(profile.ca_file),
        certificate=path(profile.certificate),
        key=path(profile.key),
        catalog=profile.catalog,
        schema=profile.schema,
    )
