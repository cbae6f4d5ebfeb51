"""GET /explain/{id} for people: as text, and as one page that loads nothing from elsewhere.

Turns an `Explanation` into plain text and HTML. The room imports `schemas` and `rendering`.
"""
