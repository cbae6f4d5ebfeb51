"""The files of the console. They are the same for everyone, and hold no data."""

from __future__ import annotations

import re
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import RedirectResponse

from api.http.answers.known_tags import is_known
from api.http.answers.negotiation import choose_coding
from api.http.console.built_files import PAGE, BuiltFile, built_files
from api.http.problems.http_errors import RouteNotFound
from api.http.rendering.content_codings import ContentCoding

router = APIRouter(tags=["console"], include_in_schema=False)

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""No script or style is in the page itself, and nothing is asked of another host."""
_LATEST = "no-cache"
_FOR_EVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"-[0-9a-f]{16}\.")
"""A name with the hash of the file's bytes: under this name, it never changes."""
_HTML = "text/html"
_CODINGS = "gzip"

Accepted = Annotated[str | None, Header(include_in_schema=False)]


@router.get("/")
async def lead_to_console(request: Request) -> Response:
    """Leads browsers to the console. For all others, there is nothing here."""
    if _HTML not in request.headers.get("accept", ""):
        raise RouteNotFound
    return RedirectResponse("/console", 307, {"Vary": "Accept"})


@router.get("/console")
@router.get("/console/")
async def show_console(accept_encoding: Accepted = None, if_none_match: Accepted = None) -> Response:
    """The page. It names the other files by their hashes."""
    # In a thread: the first call compresses them.
    files = await to_thread.run_sync(built_files)
    return _answer(files[PAGE], _LATEST, accept_encoding, if_none_match)


@router.get("/console/static/{name}")
async def get_file(name: str, accept_encoding: Accepted = None, if_none_match: Accepted = None) -> Response:
    """A script, a style sheet or a picture of the console."""
    found = (await to_thread.run_sync(built_files)).get(name)
    if found is None or name == PAGE:
        raise RouteNotFound
    cache_control = _FOR_EVER if _HASHED.search(name) else _LATEST
    return _answer(found, cache_control, accept_encoding, if_none_match)


def _answer(
    file: BuiltFile, cache_control: str, accept_encoding: str | None, if_none_match: str | None
) -> Response:
    is_zipped = _takes_gzip(accept_encoding)
    etag = f'"{file.etag}{"-gzip" if is_zipped else ""}"'
    headers = {
        "Cache-Control": cache_control,
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "Cross-Origin-Opener-Policy": "same-origin",
        "ETag": etag,
        "Vary": "Accept-Encoding",
    }
    if is_known(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    if not is_zipped:
        return Response(file.plain, headers=headers, media_type=file.media_type)
    return Response(file.zipped, headers=headers | {"Content-Encoding": "gzip"}, media_type=file.media_type)


def _takes_gzip(accept_encoding: str | None) -> bool:
    asked = ",".join(part for part in (accept_encoding or "").split(",") if _CODINGS in part)
    return choose_coding(asked or None) is ContentCoding.GZIP
