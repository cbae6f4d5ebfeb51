"""The page of licences has every package of the lock, at its version, and every jar."""

from __future__ import annotations

import pytest

from docs.tooling.check import ROOT
from docs.tooling.licences import LOCK, Locked, jar_licences, licence_of, licences_page, locked_packages

PAGE = ROOT / "docs" / "reference" / "licences.md"
PACKAGES = list(locked_packages(LOCK.read_text(encoding="utf-8")))


def test_the_page_in_docs_is_what_the_lock_and_the_metadata_say() -> None:
    hint = "run: python -m docs.tooling.licences > docs/reference/licences.md"
    assert PAGE.read_text(encoding="utf-8") == licences_page(), hint


def test_each_package_of_the_lock_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(PACKAGES) == LOCK.read_text(encoding="utf-8").count("==") - _versions_in_markers()
    assert all(f"| {package.name} | {package.version} | " in page for package in PACKAGES)


def test_each_jar_has_a_licence() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"| `{coordinates}` | {licence} |" in page for coordinates, licence in jar_licences().items())


def test_another_version_than_the_locked_one_is_no_proof() -> None:
    with pytest.raises(LookupError, match="is locked"):
        licence_of(Locked("fastapi", "0.0.1", ""))


def test_a_package_without_a_known_licence_fails() -> None:
    with pytest.raises(LookupError):
        licence_of(Locked("no-such-package", "1.0", ""))


def _versions_in_markers() -> int:
    return sum(package.marker.count("==") for package in PACKAGES)
