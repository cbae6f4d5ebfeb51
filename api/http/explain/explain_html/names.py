"""Names as the page shows them."""

from __future__ import annotations

from html import escape


def breakable(text: str) -> str:
    """Returns the text escaped; lines may break after dots and underscores, but not within words.

    >>> breakable("lake.<b>.store_sales")
    'lake.<wbr>&lt;b&gt;.<wbr>store_<wbr>sales'
    """
    return escape(text).replace(".", ".<wbr>").replace("_", "_<wbr>")
