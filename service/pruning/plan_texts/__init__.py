"""A query's plans for people: trees of `PlanNode`s made of its SQL and its filters, and their text."""
