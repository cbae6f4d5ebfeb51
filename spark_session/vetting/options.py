"""Decisions on options: of reads, and of functions that read or write a format."""

from __future__ import annotations

from collections.abc import Mapping

from spark_session.vetting.decision import Decision, Ruling, allowed, bounded, names_with, refused, table_of

READ_OPTIONS: Mapping[str, Decision] = table_of(
    (
        bounded("Chooses the versions that are read.", "64 bits", "end-snapshot-id start-snapshot-id"),
        bounded("Chooses the version that is read.", "255 characters", "branch"),
        bounded("Chooses the rows in memory at once.", "max_read_batch_rows", "batch-size"),
        bounded(
            "Chooses the size of a task, and so the number of tasks.", "min_read_split_bytes", "split-size"
        ),
        bounded("Chooses how files are put into tasks.", "0 to 1 GiB", "file-open-cost"),
        bounded("Chooses how files are put into tasks.", "1 to 1,000", "lookback"),
        bounded("Switches a way of reading on or off.", "true or false", "locality vectorization-enabled"),
        refused("Opens a folder in place of the table.", "path"),
        refused(
            "Iceberg no longer takes it. Write VERSION AS OF or TIMESTAMP AS OF.",
            "as-of-timestamp snapshot-id tag",
        ),
        refused(
            "Reads a range of versions by time, or by other names. Use those above, or VERSION AS OF.",
            "start-timestamp end-timestamp versionasof timestampasof",
        ),
        refused("Changes what is counted without reading.", "aggregate-push-down-enabled"),
        refused(
            "Belongs to streams. Queries are no streams.",
            "streaming-skip-delete-snapshots streaming-skip-overwrite-snapshots stream-from-timestamp "
            "streaming-max-files-per-micro-batch streaming-max-rows-per-micro-batch "
            "async-micro-batch-planning-enabled streaming-snapshot-polling-interval-ms "
            "async-queue-preload-file-limit async-queue-preload-row-limit",
        ),
    )
)
"""The options of Iceberg's reader, in lower case. One that is not here is refused."""

FORMAT_OPTIONS: Mapping[str, Decision] = table_of(
    (
        allowed(
            "Chooses how values are written.",
            "charset charToEscapeQuoteEscaping columnNameOfCorruptRecord comment dateFormat delimiter "
            "emptyValue "
            "encoding escape escapeQuotes header ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace lineSep "
            "locale "
            "mode multiLine nanValue negativeInf nullValue positiveInf preferDate quote quoteAll sep "
            "singleVariantColumn timeZone timestampFormat timestampNTZFormat timezone "
            "unescapedQuoteHandling enableDateTimeParsingFallback enforceSchema inferSchema",
        ),
        allowed(
            "Chooses what JSON may look like.",
            "allowBackslashEscapingAnyCharacter allowComments allowNonNumericNumbers "
            "allowNumericLeadingZeros "
            "allowSingleQuotes allowUnquotedControlChars allowUnquotedFieldNames dropFieldIfAllNull "
            "ignoreNullFields inferTimestamp prefersDecimal pretty primitivesAsString "
            "writeNonAsciiCharacterAsCodePoint",
        ),
        allowed(
            "Chooses what XML may look like.",
            "arrayElementName attributePrefix declaration excludeAttribute ignoreNamespace "
            "ignoreSurroundingSpaces indent rootTag rowTag validateName valueTag wildcardColName",
        ),
        refused("Takes memory before a value is read.", "inputBufferSize maxCharsPerColumn maxColumns"),
        refused("Opens a file as a schema.", "rowValidationXSDPath"),
        refused(
            "Belongs to files. A value is not a file.",
            "codec columnPruning compression extension samplingRatio useLegacyXMLParser useUnsafeRow",
        ),
    )
)
"""The options of Spark's CSV, JSON and XML, for functions that take `map('name', value)`."""

TAKEN_READ_OPTIONS = names_with(READ_OPTIONS, Ruling.BOUNDED)
TAKEN_FORMAT_OPTIONS = frozenset(name.lower() for name in names_with(FORMAT_OPTIONS, Ruling.ALLOWED))
