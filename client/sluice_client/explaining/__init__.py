"""Explanations: what a query read of the total, by which filters, as text and as a picture."""
