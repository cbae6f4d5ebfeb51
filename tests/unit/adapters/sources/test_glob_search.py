"""Globs match the same names as a slow and simple matcher, and each folder is listed once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.adapters.sources.find import FoundSources
from service.adapters.sources.glob_search import GlobSearch
from service.adapters.sources.search_budget import SearchBudget
from service.adapters.sources.storage import SourceAccess
from service.errors.ingest_errors import IngestCanceled
from service.errors.source_errors import SourceInvalid
from service.model.ingest.source_uris import SourceUri, name_match
from service.model.ingest.sources import SourceBounds
from tests.fakes.clock import FakeClock

NAMES = ("a", "b", "aab", ".a", "_b")
GLOBS = ("*", "**", "a*", "*b", "?", "[ab]", "[!a]*", "*a*b*", "a", "ab", ".*", "***", "*.json", "a[")


def never() -> bool:
    return False


def is_name_meant(name: str, glob: str) -> bool:
    """Matches one segment, character by character; hidden names must be spelled out."""
    is_glob = any(character in glob for character in "*?[")
    if is_glob and name[0] in "._" and glob[0] != name[0]:
        return False
    return _is_rest_meant(name, glob)


def _is_rest_meant(name: str, glob: str) -> bool:
    if not glob:
        return not name
    if glob[0] == "*":
        return any(_is_rest_meant(name[cut:], glob[1:]) for cut in range(len(name) + 1))
    if glob[0] == "[" and "]" in glob[2:]:
        inside, _, rest = glob[1:].partition("]")
        is_in = bool(name) and (name[0] in inside.lstrip("!")) is not inside.startswith("!")
        return is_in and _is_rest_meant(name[1:], rest)
    return bool(name) and glob[0] in ("?", name[0]) and _is_rest_meant(name[1:], glob[1:])


def is_path_meant(path: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    """Matches all segments; `**` is any number of folders that are not hidden."""
    if globs == ("**",):
        globs = ("**", "*")
    if not globs or not path:
        return not globs and not path
    if globs[0] == "**":
        goes_on = len(path) > 1 and path[0][0] not in "._" and is_path_meant(path[1:], globs)
        return goes_on or is_path_meant(path, globs[1:])
    return is_name_meant(path[0], globs[0]) and is_path_meant(path[1:], globs[1:])


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for first in NAMES:
        (root / f"f{first}").touch()
        for second in NAMES:
            (root / first / second).mkdir(parents=True, exist_ok=True)
            for third in NAMES:
                (root / first / second / third).touch()
    return root


@pytest.fixture(scope="module")
def paths(tree: Path) -> list[tuple[str, ...]]:
    return [path.relative_to(tree).parts for path in tree.rglob("*") if path.is_file()]


@given(globs=st.lists(st.sampled_from(GLOBS), min_size=1, max_size=5).map(tuple))
@settings(max_examples=150, deadline=None)
def test_a_glob_means_what_the_simple_matcher_says(
    tree: Path, paths: list[tuple[str, ...]], globs: tuple[str, ...]
) -> None:
    expected = sorted("/".join(path) for path in paths if is_path_meant(path, globs))
    sources = FoundSources(SourceAccess((tree.as_uri(),)), SourceBounds())
    try:
        found = sources.files(f"{tree.as_uri()}/{'/'.join(globs)}")
    except SourceInvalid:
        # The bounds are not reached, so the glob matches no file, or is the name of a folder.
        found = ()
    assert sorted(file.uri.removeprefix(f"{tree.as_uri()}/") for file in found) == expected


@given(name=st.text("ab.", min_size=1, max_size=8), glob=st.text("ab*?[]!.", min_size=1, max_size=8))
@settings(max_examples=500, deadline=None)
def test_a_name_is_matched_as_the_simple_matcher_does(name: str, glob: str) -> None:
    if "[" in glob or "]" in glob:
        # Only complete character classes are written alike for both matchers.
        glob = f"[ab]{glob.replace('[', '').replace(']', '').replace('!', '')}"
    assert name_match(glob)(name) is is_name_meant(name, glob)


@pytest.mark.parametrize("glob", ["*a" * 40 + "*b", "a*" * 100 + "b", "?*" * 100 + "b", "*" * 500 + "b"])
def test_a_glob_of_many_stars_goes_back_into_none_of_them(glob: str) -> None:
    # With backtracking, one of these names would take longer than the age of the universe.
    match = name_match(glob)
    assert not any(match("a" * length) for length in range(1, 256))
    assert match("a" * 300 + "b")


def searched(tree: Path, pattern: str, **bounds: int) -> SearchBudget:
    budget = SearchBudget(SourceBounds(**bounds), FakeClock(), never)
    uri = SourceUri.parse(f"{tree.as_uri()}/{pattern}")
    start = SourceUri(uri.scheme, uri.authority, uri.fixed)
    access = SourceAccess((tree.as_uri(),))
    assert list(GlobSearch(access, uri.segments[len(uri.fixed) :], budget).files(start))
    return budget


@pytest.mark.parametrize("count", [1, 2, 40, 400])
def test_many_stars_in_a_row_look_at_no_more_names_than_one(tree: Path, count: int) -> None:
    one, many = searched(tree, "**/*"), searched(tree, "**/" * count + "*")
    assert (many.names, many.steps) == (one.names, one.steps)


@pytest.mark.parametrize("pattern", ["**/*/**/*", "**/a*/**/*", "**/*/**", "*/**/*b/**/*", "**/**/*/**/*"])
def test_each_folder_is_listed_once_however_many_ways_lead_there(tree: Path, pattern: str) -> None:
    assert searched(tree, pattern).names <= searched(tree, "**/*").names


def test_comparisons_are_counted_and_bounded(tree: Path) -> None:
    with pytest.raises(SourceInvalid, match="more than 50 comparisons"):
        searched(tree, "**/*", steps=50)


def test_a_search_ends_when_nobody_waits_for_it(tree: Path) -> None:
    asked = iter([False] * 20)
    sources = FoundSources(SourceAccess((tree.as_uri(),)), SourceBounds())
    with pytest.raises(IngestCanceled):
        sources.files(f"{tree.as_uri()}/**/*", lambda: next(asked, True))


class PassingClock(FakeClock):
    """A clock that advances by a second at each reading."""

    def elapsed_ms(self) -> int:
        self.advance(timedelta(seconds=1))
        return super().elapsed_ms()


def test_a_search_has_a_deadline_and_its_error_names_the_setting(tree: Path) -> None:
    bounds = SourceBounds(listing_ms=5_000)
    sources = FoundSources(SourceAccess((tree.as_uri(),)), bounds, PassingClock())
    with pytest.raises(SourceInvalid, match="within 5 s: see the setting ingest_source_listing_timeout_s"):
        sources.files(f"{tree.as_uri()}/**/*")


@pytest.mark.parametrize(
    ("address", "reason"), [("*/" * 3_000, "4096 characters"), ("[" * 1_025, "a step of more than 1024")]
)
def test_addresses_that_no_storage_can_have_are_refused(tree: Path, address: str, reason: str) -> None:
    with pytest.raises(SourceInvalid, match=reason):
        FoundSources(SourceAccess((tree.as_uri(),)), SourceBounds()).files(f"{tree.as_uri()}/{address}")
