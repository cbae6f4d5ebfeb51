from docs.tooling.check import ROOT
from docs.tooling.http_api import TITLES, http_api_page

PAGE = ROOT / "docs" / "reference" / "http-api.md"


def test_the_page_in_docs_is_what_the_routes_say() -> None:
    hint = "run: python -m docs.tooling.http_api > docs/reference/http-api.md"
    assert PAGE.read_text(encoding="utf-8") == http_api_page(), hint


def test_every_tag_has_a_section() -> None:
    page = http_api_page()
    assert all(f"\n## {title}\n\n### `" in page for title in TITLES.values())
    assert page.count("\n### `") == 61
