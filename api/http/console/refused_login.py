"""The page that a browser shows when it comes back from an issuer, and the login has failed."""

from __future__ import annotations

from html import escape


def refused_page(code: str, detail: str) -> bytes:
    """Returns a page without scripts and styles. All text is escaped.

    >>> b"<p>a &lt;b&gt;</p>" in refused_page("CODE", "a <b>")
    True
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        "<title>Not logged in · Sluice</title></head><body><main>"
        f"<h1>You are not logged in</h1><p>{escape(detail)}</p><p><code>{escape(code)}</code></p>"
        '<p><a href="/console">Open the console</a></p>'
        "</main></body></html>\n"
    ).encode()
