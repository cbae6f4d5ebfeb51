"""The HTTP edge: FastAPI and Pydantic live here, decisions do not.

In come requests; out go answers. A request passes `connections` (what a client may send, and how fast), the
`middleware`, `bodies`, one of the `routes` with its `schemas` and `requests`, and leaves through `answers`,
`rendering` or `problems`. `app` puts the layers together, `server` runs them, and `door` opens when the
gateway has been built. The room imports `bootstrap` for settings only.
"""
