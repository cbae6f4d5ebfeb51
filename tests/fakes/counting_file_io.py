"""PyIceberg's own FileIO, which notes each file that is opened for reading."""

from __future__ import annotations

from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

OPENED: list[str] = []


class CountingFileIO(PyArrowFileIO):
    """Set as a catalog's `py-io-impl`; of one process."""

    def new_input(self, location: str) -> PyArrowFile:
        OPENED.append(location.rsplit("/", 1)[-1])
        return super().new_input(location)


def opened_manifests() -> list[str]:
    """The names of the manifests that were opened since the last call, lists of manifests aside."""
    found = [each for each in OPENED if each.endswith(".avro") and not each.startswith("snap-")]
    OPENED.clear()
    return found
