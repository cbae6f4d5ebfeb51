"""What the filter cache is made of."""
