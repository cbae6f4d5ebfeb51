"""The HTTP edge: FastAPI and Pydantic live here, decisions do not.

Requests come in, and answers go out. A request passes `connections` (what a client may send, and how fast),
the `middleware`, `bodies`, and one of the `routes` with its `schemas` and `requests`. Its answer leaves
through `answers`, `rendering` or `problems`. `app` puts the layers together, `server` runs them, and `access`
opens when the gateway is built. The room imports only settings from `bootstrap`.
"""
