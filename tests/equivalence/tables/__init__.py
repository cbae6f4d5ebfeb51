"""Tables, views and policies of every kind, while they change and as they were."""
