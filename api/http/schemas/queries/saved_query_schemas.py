"""The bodies and answers of saved queries."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from api.bootstrap.spelling import NO_CONTROLS, NO_NUL
from api.http.schemas.queries.query_request import Identifier, SqlText
from api.http.schemas.wire import StrictModel, WireModel
from service.model.query.saved_queries import SavedQuery, SavedQueryScope, SavedText

# The gateway's own bounds may be lower.
_LONGEST_NAME, _LONGEST_TEXT = 1_000, 4 * 1024 * 1024


class SavedQueryBody(StrictModel):
    """A query to save."""

    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=_LONGEST_NAME),
        NO_CONTROLS,
        Field(description="several may have the same"),
    ]
    sql: Annotated[
        SqlText,
        StringConstraints(min_length=1, max_length=_LONGEST_TEXT),
        NO_NUL,
        Field(description="any text: it is not checked before it runs"),
    ]
    catalog: Annotated[Identifier | None, Field(description="for names without a catalog")] = None
    schema_: Annotated[Identifier | None, Field(alias="schema", description="for names without a schema")] = (
        None
    )
    shared: Annotated[
        bool,
        Field(
            description="true: all callers may read it. Only the owner may change it, and whoever runs it "
            "needs the rights for it"
        ),
    ] = False

    def saved_text(self) -> SavedText:
        """Returns the body in the terms of the service."""
        return SavedText(
            name=self.name, sql=self.sql, catalog=self.catalog, schema=self.schema_, is_shared=self.shared
        )


class SavedQueriesQuery(StrictModel):
    """The query string of GET /saved-queries."""

    scope: Annotated[
        SavedQueryScope,
        Field(strict=False, description="`OWN`: the caller's own. `OTHERS`: those that others share"),
    ] = SavedQueryScope.ALL
    name: Annotated[
        str,
        StringConstraints(max_length=_LONGEST_NAME),
        NO_NUL,
        Field(description="only those whose name contains this, in upper or lower case"),
    ] = ""
    limit: Annotated[int, Field(strict=False, ge=1, le=1000, description="maximum number of queries")] = 100
    page_token: Annotated[
        str | None, Field(max_length=255, description="`nextPageToken` of the previous page")
    ] = None


class SavedQueryAnswer(WireModel):
    """A saved query."""

    saved_query_id: UUID
    owner: Annotated[str, Field(description="the caller who saved it")]
    is_own: Annotated[bool, Field(description="true: the caller who asks is its owner, and may change it")]
    name: str
    sql: Annotated[str, Field(description="in lists, the first 1,000 characters")]
    catalog: str | None
    schema_: Annotated[str | None, Field(alias="schema")]
    shared: bool
    version: Annotated[int, Field(description="the `ETag`, without its quotes")]
    created_at: datetime
    changed_at: datetime


class SavedQueriesAnswer(WireModel):
    """The last changed queries first."""

    saved_queries: list[SavedQueryAnswer]
    next_page_token: Annotated[str | None, Field(description="null: there are no more")]


def saved_query_answer(saved: SavedQuery, caller: str) -> SavedQueryAnswer:
    """Returns the query as it is on the wire, for this caller."""
    text = saved.text
    return SavedQueryAnswer(
        saved_query_id=saved.saved_query_id,
        owner=saved.owner,
        is_own=saved.owner == caller,
        name=text.name,
        sql=text.sql,
        catalog=text.catalog,
        schema_=text.schema,
        shared=text.is_shared,
        version=saved.version,
        created_at=saved.created_at,
        changed_at=saved.changed_at,
    )
