"""GET /explain/{id} for people: as text, and as one page that needs nothing from elsewhere.

In comes an `Explanation`; out go plain text and HTML. The room imports `schemas` and `rendering`.
"""
