"""Models of requests and answers; camelCase names exist on the wire only, and are made here.

A room for each kind of resource, like those of the routes. Models that several rooms need stand beside the
rooms.
"""
