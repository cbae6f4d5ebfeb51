"""Records of JSON: one object a line, or an array in a request's body.

In come lines of JSON; out go rows. Arrow reads many lines at once where that certainly gives the same
values; otherwise they are read one by one. The room imports `values` and `streams`.
"""
