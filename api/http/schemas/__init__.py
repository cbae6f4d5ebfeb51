"""Request and response models; camelCase on the wire, here only."""
