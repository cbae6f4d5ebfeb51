"""What a stream's checkpoint says of its micro-batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import unquote

from py4j.java_gateway import JavaObject

from service.errors import StreamFailed
from spark_session.session.warm_session import WarmSession
from spark_session.streaming.executors import spark_errors

# Before the offsets of the sources stand the version, and the time and settings of the planning.
_HEAD_LINES = 2
_LOG_VERSION = 1
_NOTHING_YET = -1


class StreamCheckpoint:
    """Of a stream with one source. `folder` is read by Hadoop's file systems, as Spark itself does it."""

    def __init__(self, session: WarmSession, folder: str) -> None:
        self._session = session
        self._folder = folder

    def offsets(self, batch_id: int) -> Sequence[str]:
        """Where the source stood when the batch was planned.

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
        """The files that Spark planned for the batch, as Hadoop writes their names: the oldest first.

        How old they were when they were found stands in the checkpoint. Of one moment, the order is by name.

        Spark reads those of them that are still there, and says nothing of the others.

        Raises:
            PartDown: the checkpoint cannot be read.
            StreamFailed: it does not have them any more.
        """
        after = self._log_offset(batch_id - 1) if batch_id else _NOTHING_YET
        last = self._log_offset(batch_id)
        with spark_errors(self._session):
            texts = self._entries(after + 1, last)
        if len(texts) < last - after:
            raise StreamFailed(
                f"The stream's checkpoint does not have the files of batch {batch_id} any more. Restore it as"
                " it was, or make another stream for what was not read yet."
            )
        # Before the entries stands the version.
        entries = (json.loads(line) for text in texts for line in text.splitlines()[1:])
        found = sorted((int(each["timestamp"]), as_hadoop_writes(each["path"])) for each in entries)
        return [path for _, path in found]

    def _log_offset(self, batch_id: int) -> int:
        [offset] = self.offsets(batch_id)
        return int(json.loads(offset)["logOffset"])

    def _entries(self, first: int, last: int) -> list[str]:
        """The entries of the source's log, as it spells them; it knows which of them it has put together."""
        jvm = self._session.jvm.gateway.jvm
        log = jvm.org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceLog(
            _LOG_VERSION, self._session.root._jsparkSession, f"{self._folder}/sources/0"
        )
        # As they are, Python's numbers would arrive as shorter ones than Scala takes them for.
        first_id, last_id = (
            jvm.scala.jdk.javaapi.OptionConverters.toScala(jvm.java.util.OptionalLong.of(each))
            for each in (first, last)
        )
        return [self._spelled(log, each._2()) for each in log.get(first_id, last_id)]

    def _spelled(self, log: JavaObject, entries: JavaObject) -> str:
        # All at once: each call into the JVM takes its time.
        sink = self._session.jvm.gateway.jvm.java.io.ByteArrayOutputStream()
        log.serialize(entries, sink)
        text: str = sink.toString("UTF-8")
        return text


def as_hadoop_writes(url: str) -> str:
    """The address without escapes, and without the slashes before a host that there is none of.

    >>> as_hadoop_writes("file:///in/a%20b%25.json"), as_hadoop_writes("s3a://bucket/in/a.json")
    ('file:/in/a b%.json', 's3a://bucket/in/a.json')
    """
    scheme, _, rest = url.partition(":")
    if rest.startswith("///"):
        rest = rest.removeprefix("//")
    return f"{scheme}:{unquote(rest)}"
