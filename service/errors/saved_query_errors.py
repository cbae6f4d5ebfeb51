"""Saved queries that are not there, that another change has reached first, or that are too large."""

from __future__ import annotations

from service.errors.gateway_error import CallerError


class SavedQueryNotFound(CallerError):
    """There is no saved query with this id that this caller may read."""

    code = "SAVED_QUERY_NOT_FOUND"


class SavedQueryNotOwned(CallerError):
    """Only its owner may change or delete a shared query. Save a copy of it."""

    code = "SAVED_QUERY_NOT_OWNED"


class SavedQueryChanged(CallerError):
    """The saved query has changed since it was read. Read it again, and then send the change."""

    code = "SAVED_QUERY_CHANGED"


class SavedQueryTooLarge(CallerError):
    """The name or the text of the query is longer than this gateway saves."""

    code = "SAVED_QUERY_TOO_LARGE"


class TooManySavedQueries(CallerError):
    """There are as many saved queries as this gateway allows. Delete some."""

    code = "TOO_MANY_SAVED_QUERIES"
