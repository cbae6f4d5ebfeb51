"""One router for each resource, in a room for each kind of resource.

`api.http.include_routes` has their order.
"""
