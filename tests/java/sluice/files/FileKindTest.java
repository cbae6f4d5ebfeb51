package sluice.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FileKindTest {

    private static final String UUID = "0b7f0c5e-9a1d-4c1e-8f39-2f6d0a3b9c11";

    @ParameterizedTest
    @ValueSource(strings = {
        "00003-%s.metadata.json",
        "00003-%s.gz.metadata.json",
        "00003-%s.metadata.json.gz",
        "%s-m0.avro",
        "snap-7120-1-%s.avro",
        "optimized-m-%s.avro",
    })
    void metadataWithAUuidIsCached(String name) {
        assertEquals(FileKind.METADATA, FileKind.of("s3://lake/t/metadata/" + name.formatted(UUID)));
        assertEquals(FileKind.METADATA, FileKind.of(name.formatted(UUID.toUpperCase())));
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000-3-%s-0-00001.parquet", "part-00000-%s-c000.snappy.parquet", "%s.parquet"})
    void parquetWithAUuidIsCached(String name) {
        assertEquals(FileKind.PARQUET, FileKind.of("file:/lake/t/data/d=1/" + name.formatted(UUID)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000-3-%s-00001.avro", "00000-3-%s-00001-deletes.puffin", "12-%s.stats"})
    void otherFilesOfATableAreCached(String name) {
        assertEquals(FileKind.DATA, FileKind.of("/lake/t/data/" + name.formatted(UUID)));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "version-hint.text",
        "v1.metadata.json",
        "00003.metadata.json",
        "000000_0.parquet",
        "part-00000.parquet",
        "m0.avro",
        "00000-3-%s-00001.orc",
        "%s",
        "%s.json",
        "%s.crc",
        ".00003-%s.metadata.json.crc",
        "%s/data.parquet",
        "",
    })
    void whatMayBeWrittenAgainIsNot(String name) {
        assertEquals(FileKind.OTHER, FileKind.of("s3://lake/t/metadata/" + name.formatted(UUID)));
    }

    @Test
    void aFileHasOneKeyHoweverItIsWritten() {
        FileKey key = FileKey.of("lake", "/a/b");
        assertEquals(key, FileKey.of("lake", "file:/a/b"));
        assertEquals(key, FileKey.of("lake", "file:///a/b"));
        assertEquals(FileKey.of("lake", "s3://b/a"), FileKey.of("lake", "s3a://b/a"));
        assertNotEquals(key, FileKey.of("other", "/a/b"));
        assertNotEquals(FileKey.of("lake", "s3://b/a"), FileKey.of("lake", "gs://b/a"));
    }

    @Test
    void aPrefixIsOneOfACatalog() {
        FileKey key = FileKey.of("lake", "file:/a/b/c");
        assertTrue(key.isBelow("lake", "file:///a/b"));
        assertTrue(key.isBelow("lake", "/a"));
        assertFalse(key.isBelow("other", "/a"));
        assertFalse(key.isBelow("lake", "/b"));
    }
}
