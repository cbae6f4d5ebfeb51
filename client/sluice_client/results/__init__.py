"""Results: the rows of a query that has succeeded, read chunk by chunk, as Arrow, Python values or frames."""
