"""Tables and views, and their maintenance."""
