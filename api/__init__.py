"""The process and its edge: the command, the HTTP server, and what both are built from.

`cli` may import `http` and `bootstrap`, `http` may import `bootstrap` for settings, and `bootstrap` neither.
Decisions are made in `service`.
"""
