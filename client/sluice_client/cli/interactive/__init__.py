"""The interactive mode: lines of a terminal come in, statements are run, and Ctrl-C ends a query only."""
