"""Text without anything that a terminal would obey.

Values, names and messages may come from anyone who can write to a table. A control character among them could
move the cursor, change the window's title, or make one text look like another.
"""

from __future__ import annotations

import re

_C0, _C1 = "\x00-\x1f\x7f", "\x80-\x9f"
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINES = "\u2028\u2029"
_SURROGATES = "\ud800-\udfff"
_INVISIBLE = "\u00ad\u200b-\u200d\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_UNSAFE = re.compile(f"[{_C0}{_C1}{_DIRECTIONS}{_LINES}{_SURROGATES}{_INVISIBLE}]")
_UNSAFE_BUT_LINES = re.compile(f"[\x00-\x08\x0b-\x1f\x7f{_C1}{_DIRECTIONS}{_LINES}{_SURROGATES}{_INVISIBLE}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def safe_text(text: str) -> str:
    r"""Returns the text in one line, with escapes instead of characters that are not shown.

    >>> safe_text("a\tb\x1b[31m")
    'a\\tb\\x1b[31m'
    """
    return _UNSAFE.sub(_escape, text)


def safe_lines(text: str) -> str:
    r"""Returns the text with its line ends and tabs.

    >>> safe_lines("a\tb\n\x1b[31m")
    'a\tb\n\\x1b[31m'
    """
    return _UNSAFE_BUT_LINES.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def counted(number: int, noun: str) -> str:
    """Returns a number and its noun.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
