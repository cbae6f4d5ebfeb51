"""`python -m docs.tooling.console_words`: writes what the console shows of the gateway's own words.

These are the sentences of reasons with their cures, the words about sources of keys, and the functions that
the editor completes, with what each group does.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from api.http.rendering.cures import CURES, variables_of
from api.http.rendering.reasons import SENTENCES, SOURCES
from spark_session.vetting.functions import (
    FUNCTIONS,
    OFFERED,
    OFFERED_TABLE_FUNCTIONS,
    TABLE_FUNCTIONS,
)

_SOURCE = Path(__file__).parents[2] / "console/source"
WORDS = _SOURCE / "explain/reasons.json"
SOURCE_WORDS = _SOURCE / "explain/sources.json"
CURE_WORDS = _SOURCE / "explain/cures.json"
FUNCTION_WORDS = _SOURCE / "ask/functions.json"
_WORD = re.compile(r"[a-z_][a-z0-9_]*")


def words() -> str:
    """Returns the sentence of each reason, as JSON."""
    return json.dumps({reason.value: sentence for reason, sentence in SENTENCES.items()}, indent=2) + "\n"


def source_words() -> str:
    """Returns the words about each source of keys, as JSON."""
    return json.dumps({source.value: said for source, said in SOURCES.items()}, indent=2) + "\n"


def cure_words() -> str:
    """Returns the cure of each reason that has one, as JSON."""
    cures = {
        reason.value: {
            "says": cure.says,
            "settings": variables_of(cure),
            "page": f"docs/{cure.page}",
            "isAboutLayout": cure.is_about_layout,
        }
        for reason, cure in CURES.items()
    }
    return json.dumps(cures, indent=2, ensure_ascii=False) + "\n"


def function_words() -> str:
    """Returns the names of the functions that a query may call, by the sentence about them, as JSON."""
    by_sentence: dict[str, list[str]] = {}
    decisions = {name: TABLE_FUNCTIONS[name] for name in OFFERED_TABLE_FUNCTIONS}
    decisions |= {name: FUNCTIONS[name] for name in OFFERED}
    for name in sorted(decisions):
        if _WORD.fullmatch(name):
            by_sentence.setdefault(decisions[name].reason, []).append(name)
    named = {sentence: " ".join(names) for sentence, names in sorted(by_sentence.items())}
    return json.dumps(named, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    WORDS.write_text(words(), encoding="utf-8")
    SOURCE_WORDS.write_text(source_words(), encoding="utf-8")
    CURE_WORDS.write_text(cure_words(), encoding="utf-8")
    FUNCTION_WORDS.write_text(function_words(), encoding="utf-8")
