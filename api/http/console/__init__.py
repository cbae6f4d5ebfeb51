"""The console's built files, as browsers get them.

The input is `static/`, which `make console` builds from the sources in `console/`. The output is their bytes,
headers and content codings. Nothing here knows a caller, a table or a query.
"""
