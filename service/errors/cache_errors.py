"""Caches that cannot be emptied, or are not there."""

from __future__ import annotations

from service.errors.gateway_error import CallerError


class CacheNotFound(CallerError):
    """This gateway has no cache of this name."""

    code = "CACHE_NOT_FOUND"


class CacheNotEmptiable(CallerError):
    """The entries of this store cannot be made again. They expire by themselves."""

    code = "CACHE_NOT_EMPTIABLE"
