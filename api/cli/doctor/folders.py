"""Checks space and permissions in the folders that the gateway writes to."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from api.bootstrap.settings import Settings
from api.cli.part_checks import Found, State

MIB = 1024**2
GIB = 1024**3
LEAST_BYTES = 256 * MIB
"""With less, a single result or a spilled sort fills the disk, so the check fails."""
LEAST_INODES = 1_000
FEW_INODES = 20_000
_TRIAL_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Room:
    """The free space of a file system; `inodes` is None if it does not count them."""

    free_bytes: int
    inodes: int | None


def existing(path: Path) -> Path:
    """Returns the folder, or the nearest folder above it that exists."""
    absolute = path.expanduser().absolute()
    return next(parent for parent in (absolute, *absolute.parents) if parent.exists())


def room_of(path: Path) -> Room:
    """Returns the free space where the folder is, or will be."""
    state = os.statvfs(existing(path))
    return Room(shutil.disk_usage(existing(path)).free, state.f_favail if state.f_files else None)


def disk(
    path: Path,
    purpose: str,
    *,
    wanted_bytes: int,
    least_bytes: int = LEAST_BYTES,
    room: Room | None = None,
) -> Found:
    """Whether there is room for what the settings allow there; fails below `least_bytes` or 1,000 inodes.

    `room` is the free space there; None: it is measured.
    """
    left = room or room_of(path)
    inodes = "" if left.inodes is None else f" and {left.inodes:,} inodes"
    text = f"{path}: {_size(left.free_bytes)}{inodes} free"
    cure = f"Make room, or choose another folder for {purpose}."
    has_no_inodes = left.inodes is not None and left.inodes < LEAST_INODES
    if left.free_bytes < least_bytes or has_no_inodes:
        return Found(text, State.FAILED, cure)
    if left.free_bytes < wanted_bytes:
        return Found(f"{text}; {purpose} may take {_size(wanted_bytes)}", State.WARNING, cure)
    if left.inodes is not None and left.inodes < FEW_INODES:
        return Found(text, State.WARNING, cure)
    return Found(text)


def local_folders(settings: Settings) -> tuple[Path, ...]:
    """Returns where Spark spills to on this machine. The environment wins, as it does in Spark."""
    given = os.environ.get("SPARK_LOCAL_DIRS") or settings.spark_conf.get("spark.local.dir") or "/tmp"
    return tuple(Path(path.strip()) for path in given.split(",") if path.strip())


def folder(
    path: Path, purpose: str, setting: str, *, wanted_bytes: int, least_bytes: int = LEAST_BYTES
) -> Found:
    """Checks permissions, then space, and returns the worse result. `setting` is what names the folder."""
    allowed = permissions(path, setting)
    if allowed.state is State.FAILED:
        return allowed
    left = disk(path, purpose, wanted_bytes=wanted_bytes, least_bytes=least_bytes)
    worse = allowed if left.state is State.OK else left
    return Found(f"{allowed.text}; {_after_path(left.text, path)}", worse.state, worse.cure)


def permissions(path: Path, setting: str) -> Found:
    """Whether this user can write, sync, rename and delete in the folder, and who owns it.

    A missing folder is not created: the one above it is tried. The trial file is deleted.
    """
    there = existing(path)
    try:
        _write(there)
        owner = there.stat().st_uid
    except OSError as error:
        cure = f"Give this user write access to the folder, or set {setting} to another folder."
        reason = error.strerror or type(error).__name__
        return Found(f"{there} cannot be written ({reason}).", State.FAILED, cure)
    text = f"{there}: written, synced, renamed and deleted a file"
    if there != path.expanduser().absolute():
        text += f"; the start makes {path.expanduser().absolute()}"
    if owner == os.geteuid() or there != path.expanduser().absolute():
        return Found(text)
    reported = f"{text}; it belongs to {_name_of(owner)}, and this is {_name_of(os.geteuid())}"
    return Found(reported, State.WARNING, "Run doctor as the user that runs the gateway.")


def _write(folder: Path) -> None:
    handle, name = tempfile.mkstemp(prefix=".doctor-", dir=folder)
    first, second = Path(name), Path(f"{name}-renamed")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(bytes(_TRIAL_BYTES))
            file.flush()
            os.fsync(file.fileno())
        first.rename(second)
    finally:
        first.unlink(missing_ok=True)
        second.unlink(missing_ok=True)


def _name_of(user_id: int) -> str:
    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:
        return f"user {user_id}"


def _after_path(text: str, path: Path) -> str:
    return text.removeprefix(f"{path}: ")


def _size(byte_count: int) -> str:
    return f"{byte_count / GIB:.1f} GiB" if byte_count >= GIB else f"{byte_count // MIB} MiB"
