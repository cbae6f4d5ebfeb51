"""A hook of MkDocs: the site also has pages and pictures that lie outside of `docs/`."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {
    "CONTRIBUTING.md": "contributing/index.md",
    "CHANGELOG.md": "contributing/changelog.md",
    "SECURITY.md": "operations/security-policy.md",
    "helm/sluice/README.md": "reference/chart.md",
}
"""Pages by their path in the repository, and what they are in the site."""
PICTURES = "bench/results"
_LOADED = re.compile(r'<(?:script|img|iframe)\b[^>]*src="https?://[^"]+|<link\b[^>]*href="https?://[^"]+')
_LINK = re.compile(r"\]\(([^)\s:#]+)(#[^)\s]+)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds what lies outside."""
    for path, page in PAGES.items():
        content = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=content))
    for picture in sorted((ROOT / PICTURES).glob("*.png")):
        name = f"operations/{picture.name}"
        files.append(File.generated(config, name, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links lead to where the site has what they name in the repository."""
    of_site = page.file.src_uri
    in_repository = next((path for path, name in PAGES.items() if name == of_site), f"docs/{of_site}")

    def in_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), link[1]))
        found = posixpath.relpath(_in_site(target), posixpath.dirname(of_site) or ".")
        return f"]({found}{link[2] or ''})"

    return _LINK.sub(in_site, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The page, if it loads nothing from another host.

    Raises:
        PluginError: it does.
    """
    if found := _LOADED.search(output):
        raise PluginError(f"{page.file.src_uri} loads {found[0]}")
    return output


def _in_site(path: str) -> str:
    if path.startswith(f"{PICTURES}/"):
        return f"operations/{posixpath.basename(path)}"
    # Other targets stay as they are: a strict build names each that is neither a page nor a picture.
    return PAGES.get(path, path.removeprefix("docs/"))
