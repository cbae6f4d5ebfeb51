"""The table of a query's rewrites, besides its filters."""

from __future__ import annotations

from collections.abc import Sequence

from api.http.explain.explain_html.names import breakable
from service.model.query.rewrites import RewriteRecord

_HEAD = "<tr><th>rewrite</th><th>table</th><th>how</th></tr>"


def rewrite_table(rewrites: Sequence[RewriteRecord]) -> str:
    """Returns a row for each rewrite."""
    body = "".join(
        f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(rewrite))}</tr>" for rewrite in rewrites
    )
    return f'<div class="wide"><table><thead>{_HEAD}</thead><tbody>{body}</tbody></table></div>'


def _cells(record: RewriteRecord) -> tuple[str, str, str]:
    return breakable(record.kind.value), breakable(record.table) or "–", breakable(record.detail)
