"""The console: its files, for everyone, and the login of its users.

These routes serve the console alone, and change with it, so the OpenAPI document does not have them.
"""
