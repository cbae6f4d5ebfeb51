"""Finds the filters of a query's text: parse it, expand its views, resolve its tables, ask the rules.

Input is the caller's text, with the catalogs, the views and what is known of the tables' files. Output is
`Detected`: the filters with the facts that they were found by, or the reason why there are none. Long texts
are read in a process that a deadline ends. Results are cached for as long as the tables stay as they are. The
room collects no keys and changes no text, apart from the views that it expands.
"""
