"""What a session's values may be, and how a change makes others of them: pure, and known to all above."""
