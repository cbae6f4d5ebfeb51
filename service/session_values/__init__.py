"""The rules for a session's values, and for changes of them: pure, and known to all above."""
