"""Reads micro-batches from a stream's checkpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import unquote

from py4j.java_gateway import JavaObject

from service.errors.source_errors import StreamFailed
from spark_session.session.warm_session import WarmSession
from spark_session.streaming.executors import spark_errors

# The lines before the sources' offsets: the version, and the time and settings of the planning.
_HEAD_LINES = 2
_LOG_VERSION = 1
_NOTHING_YET = -1


class StreamCheckpoint:
    """The checkpoint of a stream with one source. Hadoop's file systems read `folder`, as in Spark."""

    def __init__(self, session: WarmSession, folder: str) -> None:
        self._session = session
        self._folder = folder

    def offsets(self, batch_id: int) -> Sequence[str]:
        """Returns where the source was when the batch was planned.

        Raises:
            PartDown: the checkpoint cannot be read.
        """
        jvm = self._session.jvm.gateway.jvm
        with spark_errors(self._session):
            path = jvm.org.apache.hadoop.fs.Path(f"{self._folder}/offsets/{batch_id}")
            configuration = self._session.root._jsparkSession.sessionState().newHadoopConf()
            stream = path.getFileSystem(configuration).open(path)
            try:
                text: str = jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
            finally:
                stream.close()
        return text.splitlines()[_HEAD_LINES:]

    def planned_files(self, batch_id: int) -> list[str]:
        """Returns the files that Spark planned for the batch, as Hadoop writes their names: the oldest first.

        Their order follows the ages in the checkpoint, from when they were found; files of one moment are
        ordered by name.

        Spark reads those that still exist, and does not report the others.

        Raises:
            PartDown: the checkpoint cannot be read.
            StreamFailed: the checkpoint no longer has them.
        """
        after = self._log_offset(batch_id - 1) if batch_id else _NOTHING_YET
        last = self._log_offset(batch_id)
        with spark_errors(self._session):
            texts = self._entries(after + 1, last)
        if len(texts) < last - after:
            raise StreamFailed(
                f"The stream's checkpoint does not have the files of batch {batch_id} any more. Restore it as"
                " it was, or create another stream for the records that were not read yet."
            )
        # The version comes before the entries.
        entries = (json.loads(line) for text in texts for line in text.splitlines()[1:])
        found = sorted((int(entry["timestamp"]), as_hadoop_writes(entry["path"])) for entry in entries)
        return [path for _, path in found]

    def _log_offset(self, batch_id: int) -> int:
        [offset] = self.offsets(batch_id)
        return int(json.loads(offset)["logOffset"])

    def _entries(self, first: int, last: int) -> list[str]:
        """Returns the entries of the source's log as it spells them; the log knows the compacted ones."""
        jvm = self._session.jvm.gateway.jvm
        log = jvm.org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceLog(
            _LOG_VERSION, self._session.root._jsparkSession, f"{self._folder}/sources/0"
        )
        # Plain Python numbers would arrive as shorter types than Scala expects.
        first_id, last_id = (
            jvm.scala.jdk.javaapi.OptionConverters.toScala(jvm.java.util.OptionalLong.of(batch_id))
            for batch_id in (first, last)
        )
        return [self._spelled(log, entry._2()) for entry in log.get(first_id, last_id)]

    def _spelled(self, log: JavaObject, entries: JavaObject) -> str:
        # All at once: each call into the JVM takes time.
        sink = self._session.jvm.gateway.jvm.java.io.ByteArrayOutputStream()
        log.serialize(entries, sink)
        text: str = sink.toString("UTF-8")
        return text


def as_hadoop_writes(url: str) -> str:
    """Returns the address without escapes, and without the slashes of a missing host.

    >>> as_hadoop_writes("file:///in/a%20b%25.json"), as_hadoop_writes("s3a://bucket/in/a.json")
    ('file:/in/a b%.json', 's3a://bucket/in/a.json')
    """
    scheme, _, rest = url.partition(":")
    if rest.startswith("///"):
        rest = rest.removeprefix("//")
    return f"{scheme}:{unquote(rest)}"
