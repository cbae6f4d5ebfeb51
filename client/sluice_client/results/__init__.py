"""Results: the rows of a query that has succeeded, read part by part, as Arrow, Python values or frames."""
