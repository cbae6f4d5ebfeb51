"""Detects numbers that Arrow must not read as decimals.

Arrow divides by powers of ten from a look-up table. If a number has digits more than 38 places after the
point, Arrow reads past the end of that table: the number changes, or the process crashes.
"""

from __future__ import annotations

import re

# One pattern for each spelling: one that begins with a fixed character is several times as fast as a combined
# one.
_EXPONENTS = tuple(re.compile(letter + rb'-0*[1-9][0-9]+"?[\s,}]') for letter in (b"e", b"E"))
_BEFORE_EXPONENT = re.compile(rb'[:"\s][+-]?[0-9.]*\Z')
_LONGEST_BEFORE = 64
# The zeros of a number of 15 digits with an exponent of one digit.
_ZEROS = b"." + b"0" * 14
# A minus, a point, a digit or an E in a string, escaped by its code point.
_ESCAPED = re.compile(rb"\\u00(2[deDE]|3[0-9]|[46]5)")


def has_far_digits(lines: bytes) -> bool:
    """Returns whether the lines may have such a number, among numbers with at most 15 digits.

    >>> has_far_digits(b'{"a": 1e-41}'), has_far_digits(b'{"a": 1e-4, "b": "c00000-5e-1000"}')
    (True, False)
    """
    if _ZEROS in lines or (b"\\u00" in lines and _ESCAPED.search(lines)):
        return True
    return any(
        _is_number(lines, found.start()) for exponent in _EXPONENTS for found in exponent.finditer(lines)
    )


def _is_number(lines: bytes, exponent: int) -> bool:
    """Returns whether the text before an exponent may be a number; in UUIDs and other text it rarely is."""
    before = lines[max(exponent - _LONGEST_BEFORE, 0) : exponent]
    return not before.strip(b"0123456789.") or _BEFORE_EXPONENT.search(before) is not None
