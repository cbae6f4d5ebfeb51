"""PyIceberg's own `FileIO`, which records each file that is opened for reading."""

from __future__ import annotations

from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

OPENED: list[str] = []


class CountingFileIO(PyArrowFileIO):
    """The `py-io-impl` to set in a catalog; it counts for one process."""

    def new_input(self, location: str) -> PyArrowFile:
        OPENED.append(location.rsplit("/", 1)[-1])
        return super().new_input(location)


def opened_manifests() -> list[str]:
    """Returns the names of the manifests opened since the last call, without manifest lists."""
    found = [name for name in OPENED if name.endswith(".avro") and not name.startswith("snap-")]
    OPENED.clear()
    return found
