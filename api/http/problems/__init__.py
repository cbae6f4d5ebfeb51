"""Errors as problem+json: which status each gets, and where in the request it lies.

In come the service's errors and Pydantic's; out go answers as RFC 9457 describes them. The HTTP status of
an error is in `errors` alone.
"""
