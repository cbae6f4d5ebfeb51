"""Names as the page shows them."""

from __future__ import annotations

from html import escape


def breakable(text: str) -> str:
    """The text, escaped; a line may end behind its dots and underscores, and within none of its words.

    >>> breakable("lake.<b>.store_sales")
    'lake.<wbr>&lt;b&gt;.<wbr>store_<wbr>sales'
    """
    return escape(text).replace(".", ".<wbr>").replace("_", "_<wbr>")
