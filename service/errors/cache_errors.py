"""Caches that cannot be emptied, or are not there."""

from __future__ import annotations

from service.errors.gateway_error import CallerError


class CacheNotFound(CallerError):
    """This gateway has no cache of this name."""

    code = "CACHE_NOT_FOUND"


class CacheNotEmptiable(CallerError):
    """This is no cache but a store: what it has cannot be made again. It is emptied as its entries expire."""

    code = "CACHE_NOT_EMPTIABLE"
