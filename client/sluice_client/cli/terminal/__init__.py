"""The terminal: its width and colours, safe text for it, and progress on it."""
