"""The HTTP edge: FastAPI and Pydantic live here, decisions do not."""
