"""`python -m docs.tooling.console_words`: writes the sentences of the gateway that the console shows, too."""

from __future__ import annotations

import json
from pathlib import Path

from api.http.rendering.reasons import SENTENCES

WORDS = Path(__file__).parents[2] / "console/source/explain/reasons.json"


def words() -> str:
    """Returns the sentence of each reason, as JSON."""
    return json.dumps({reason.value: sentence for reason, sentence in SENTENCES.items()}, indent=2) + "\n"


if __name__ == "__main__":
    WORDS.write_text(words(), encoding="utf-8")
