"""SQLAlchemy's own suite for dialects, over a real gateway: `make dialect-test`.

Its tests are in SQLAlchemy, so this folder has what it asks for: `requirements` say which features there are,
`provision` how it finds things, and `suite` imports the tests. None of them is collected by `make test`.
"""
