"""Docstrings and comments: the prose that a person reads in code."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

_DOCTEST = re.compile(r"^[ \t]*>>>.*?(?=^[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FOR_TOOLS = ("#!", "# type:", "# noqa", "# fmt:", "# pragma:")


@dataclass(frozen=True, slots=True)
class CodeText:
    """A docstring, or comments that follow one another, and its first line in the module."""

    line: int
    text: str


def texts_in_code(source: str) -> list[CodeText]:
    r"""All of a module, without its doctests and the comments that tools read.

    >>> found = texts_in_code("# First,\n# second.\nX = 1\n'What X is.'\n")
    >>> [(text.line, text.text) for text in found]
    [(4, 'What X is.'), (1, 'First,\nsecond.')]
    """
    return [*_docstrings(source), *_comments(source)]


def _docstrings(source: str) -> Iterator[CodeText]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            value = node.value.value
            if isinstance(value, str):
                yield CodeText(node.value.lineno, _DOCTEST.sub(_lines_only, value))


def _lines_only(block: re.Match[str]) -> str:
    return "\n" * block[0].count("\n")


def _comments(source: str) -> Iterator[CodeText]:
    first, lines = 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(_FOR_TOOLS):
            first = first if lines else token.start[0]
            lines.append(token.string.removeprefix("#").strip())
        elif lines and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            yield CodeText(first, "\n".join(lines))
            lines = []
