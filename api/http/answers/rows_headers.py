"""Headers of answers that are rows alone: they say what a manifest says in JSON."""

from __future__ import annotations

from service.model.query.results import Manifest


def rows_headers(manifest: Manifest) -> dict[str, str]:
    """Returns the number of rows of the whole result, and whether a limit cut it.

    >>> rows_headers(Manifest((), 3, 100, (), is_truncated=True))
    {'X-Row-Count': '3', 'X-Truncated': 'true'}
    """
    return {
        "X-Row-Count": str(manifest.row_count),
        "X-Truncated": "true" if manifest.is_truncated else "false",
    }
