"""Builds services from adapters: one function for each, named `build_…`.

In come settings and `Components`; out comes a `Gateway`, or a part of one. Adapters are named only here, in
`parts`, and by the checks of `api.cli`.
"""
