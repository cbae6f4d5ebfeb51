from tests.unit.adapters.data_files.writers import upsert, write, writer

__all__ = ["upsert", "write", "writer"]
