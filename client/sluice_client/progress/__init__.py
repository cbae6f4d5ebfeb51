"""Shows how far a query is: in a terminal, in a notebook, or not at all."""
