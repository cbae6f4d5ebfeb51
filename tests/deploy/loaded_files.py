"""`python -m tests.deploy.loaded_files`: prints the files that the gateway loads from installed packages.

All packages of the project are imported, and each import within a function, too.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("api", "migrations", "service", "spark_session")
_OF_CHECKERS = {"_typeshed"}
"""Only type checkers have it."""
INSTALLED = sysconfig.get_path("purelib")


def _imported(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def main() -> None:
    """Imports everything, and prints the paths below the folder of installed packages."""
    modules = [module for package in PACKAGES for module in sorted(Path(package).rglob("*.py"))]
    for name in sorted({name for module in modules for name in _imported(module)} - _OF_CHECKERS):
        importlib.import_module(name)
    files = {getattr(module, "__file__", None) or "" for module in tuple(sys.modules.values())}
    files |= set(re.findall(r"/\S+\.so\S*", Path("/proc/self/maps").read_text()))
    for file in sorted(files):
        if file.startswith(INSTALLED):
            print(Path(file).relative_to(INSTALLED))  # noqa: T201


if __name__ == "__main__":
    main()
