"""House words and stumbles in prose: each pattern with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_SENTENCE = 45
"""In words. A longer one holds more than one idea."""

_WORDS = {
    r"mention(?:s|ed|ing)?": "table reference (or: name)",
    r"narrow(?:s|ed|ing)?": "prune, or filter a scan",
    r"spare[sd]?": "skip",
    r"unsure": "ambiguous",
    r"loose": "unpinned",
    r"(?:opened|closed) views?|views? (?:is|are) (?:opened|closed)": "expanded view, unexpanded view",
    r"drop(?:s|ped)? (?:a |the |this )?joins?|joins? (?:is|are|was|were) dropped": "eliminate a join",
    r"stands? for (?:it|its join|a join|joins?)": "eliminate a join",
    r"fed|feeding": "chained filters",
    r"told": "reported",
    r"(?<!dead[ -])letters?(?! or digit)": "dead letter, or character",
    r"misfits?": "invalid partition value",
    r"judg(?:e|ed|ing)": "revalidate",
    r"upkeep": "maintenance",
    r"refitted": "rewrite target",
    r"laid bod(?:y|ies)": "staged bodies",
    r"meters?": "metrics",
    r"mend(?:s|ed|ing)?": "fix, repair",
    r"anew": "again",
    r"meanwhile": "in the meantime, or name what happens at the same time",
    r"hears? of|heard of": "receives",
    r"beforehand": "before",
    r"wants? (?:a reason|an answer)": "needs",
    r"puts? right": "correct",
    r"nobody's|somebody": "another process",
}
_STUMBLES = {
    r"^Of (?!course)": "subject first: no sentence begins with `Of`",
    r"^What (?!is|are|does|do|to|can|makes)[^?]*\.$": "no subject that is a clause",
    r"^What (?:is|are|does|do|can|makes)\b[^?:]*\b(?:is|are|was|has|have|stays?|goes?|runs?)\b[^?]*\.$": (
        "no subject that is a clause"
    ),
    r"^(?:Free to|Past that|Within about|Slower, )": "subject, verb, object",
    r"\bis none of\b|\bare none of\b": "is not one of",
    r"\bof which (?:each|none|one|a|the)\b": "two sentences",
    r"\bsuch as (?:have|has|are|is|stand)\b": "that",
    r"\b(?:is|are) (?:said|meant)\b": "say who says or means it",
    r"\bas (?:all|any) (?:but|else)\b": "name them",
    r"\bwhat (?:did|was|is|are|were) not\b": "name the thing",
    r"^So (?:it is|it was|they are) with\b": "repeat the verb",
    r"(?<![Tt]here )\b(?:is|are) no (?!longer|more|less)": "is not a",
    r"\bbe had\b": "be available",
}
_FENCE = re.compile(r"^([ \t]*)```.*?^\1```[^\n]*$", re.MULTILINE | re.DOTALL)
_FROM_CODE = re.compile(r"^<!-- sentences from code -->$.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(`+)(?:(?!\1).)+\1", re.DOTALL)
_TARGET = re.compile(r"(?<=\])\([^)]*\)|<[^>\n]+>|\{[^}\n]*\}")
_SENTENCE = re.compile(r"(?<=[.!?])[\s)]+(?=[A-Z`*_\[\"])")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a sentence, and what to write instead."""

    line: int
    found: str
    instead: str


def faults(text: str) -> list[Fault]:
    """All of a page, in order.

    >>> faults("The scan is narrowed.")
    [Fault(line=1, found='narrowed', instead='prune, or filter a scan')]
    >>> faults("The field `narrowed` is a boolean.")
    []
    >>> [fault.found for fault in faults("Of each table, one row is kept.")]
    ['Of each table, one row is kept.']
    """
    return sorted(_faults(text), key=lambda fault: fault.line)


def _faults(text: str) -> Iterator[Fault]:
    for line, paragraph in _paragraphs(_without_code(text)):
        for sentence in _SENTENCE.split(paragraph):
            plain = " ".join(sentence.split()).strip("*_ ")
            for pattern, instead in _WORDS.items():
                for word in re.finditer(rf"\b(?:{pattern})\b", plain, re.IGNORECASE):
                    yield Fault(line, word[0], instead)
            for pattern, instead in _STUMBLES.items():
                if found := re.search(pattern, plain):
                    yield Fault(line, plain if pattern[0] == "^" else found[0], instead)
            if len(plain.split()) > LONGEST_SENTENCE:
                yield Fault(line, plain, f"at most {LONGEST_SENTENCE} words: one idea a sentence")


def _without_code(text: str) -> str:
    """Lines keep their numbers; names in code stay as words that no rule knows."""

    def lines_only(block: re.Match[str]) -> str:
        return "\n" * block[0].count("\n")

    return _TARGET.sub(
        "",
        _SPAN.sub(
            lambda span: "`X`" + lines_only(span), _FROM_CODE.sub(lines_only, _FENCE.sub(lines_only, text))
        ),
    )


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, list items, headings and cells, each with its first line."""
    first, lines = 1, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        is_row = stripped.startswith("|")
        begins = re.match(r"(?:[-*+]|\d+\.|#+|!!!|\?\?\?)\s", stripped) or is_row
        if (begins or not stripped) and lines:
            yield first, " ".join(lines)
            lines = []
        if is_row:
            yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", stripped) if cell.strip())
        elif stripped:
            first = number if not lines else first
            lines.append(re.sub(r"^(?:[-*+]|\d+\.|#+)\s+", "", stripped))
    if lines:
        yield first, " ".join(lines)
