"""Row filters and masks: the rows that callers see and change."""
