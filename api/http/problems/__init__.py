"""Errors as problem+json: the HTTP status of each, and its place in the request.

Turns the service's errors and Pydantic's into answers as RFC 9457 describes them. Only `errors` maps errors
to HTTP statuses.
"""
