"""Builds and checks the documentation.

In: the pages, the routes of the application, files outside of `docs/`. Out: a site, a generated page, or a
list of faults. The gateway imports nothing from here.
"""
