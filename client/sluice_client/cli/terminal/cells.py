"""The width of text on a terminal, where some characters take two columns and others none."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "…"


def width(text: str) -> int:
    """Returns the number of columns that the text takes.

    >>> width("abc"), width("日本")
    (3, 4)
    """
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, columns: int) -> str:
    """Returns the text, or its beginning and an ellipsis, in at most `columns` columns.

    >>> cut("abcdef", 4), cut("abc", 4)
    ('abc…', 'abc')
    """
    return text if width(text) <= columns else set_cell_size(text, max(columns - 1, 0)) + ELLIPSIS


def left(text: str, columns: int) -> str:
    """Returns the text with spaces after it."""
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """Returns the text with spaces before it."""
    return " " * (columns - width(text)) + text
