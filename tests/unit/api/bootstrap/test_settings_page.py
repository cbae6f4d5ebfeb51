from pathlib import Path

from api.bootstrap.settings import Settings
from api.bootstrap.settings_page import settings_page

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "settings.md"


def test_the_page_in_docs_is_what_the_settings_say() -> None:
    hint = "run: sluice config --describe > docs/reference/settings.md"
    assert PAGE.read_text(encoding="utf-8") == settings_page(), hint


def test_every_setting_has_a_row() -> None:
    page = settings_page()
    assert [name for name in Settings.model_fields if f"`SLUICE_{name.upper()}`" not in page] == []
