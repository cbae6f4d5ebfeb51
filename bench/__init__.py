"""Measures Sluice side by side with what it is compared to; not a test, and not part of the wheel."""
