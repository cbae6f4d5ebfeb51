package sluice.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.encryption.AesGcmInputFile;
import org.apache.iceberg.encryption.AesGcmOutputFile;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.BulkDeletionFailureException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.FileInfo;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.PositionOutputStream;
import org.apache.iceberg.io.ResolvingFileIO;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.io.StorageCredential;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CachingFileIOTest {

    @TempDir
    private File folder;

    private final CachingFileIO io = Wrapped.overHadoop();

    @Test
    void aDeletedFileIsForgotten() throws IOException {
        String location = written("a");
        assertEquals("a", read(io, location));
        assertTrue(Wrapped.isCached(location));
        io.deleteFile(location);
        assertFalse(Wrapped.isCached(location));
        assertFalse(io.newInputFile(location).exists());
    }

    @Test
    void filesThatAreDeletedTogetherAreForgotten() throws IOException {
        List<String> locations = List.of(written("a"), written("b"));
        for (String location : locations) {
            read(io, location);
        }
        io.deleteFiles(locations);
        for (String location : locations) {
            assertFalse(Wrapped.isCached(location));
            assertFalse(io.newInputFile(location).exists());
        }
    }

    @Test
    void aDeletedPrefixIsForgotten() throws IOException {
        String location = written("a");
        read(io, location);
        List<String> listed = new ArrayList<>();
        for (FileInfo file : io.listPrefix(folder.toURI().toString())) {
            listed.add(file.location());
        }
        assertEquals(1, listed.size());
        io.deletePrefix(folder.toURI().toString());
        assertFalse(Wrapped.isCached(location));
        assertFalse(folder.exists());
        assertTrue(folder.mkdir());
    }

    @Test
    void aFileThatIsWrittenThroughItIsReadAsItWasWritten() throws IOException {
        String location = written("before");
        assertEquals("before", read(io, location));
        try (PositionOutputStream out = io.newOutputFile(location).createOrOverwrite()) {
            out.write("after".getBytes(StandardCharsets.UTF_8));
        }
        assertEquals("after", read(io, location));
    }

    @Test
    void aFileThatMayChangeIsReadEachTime() throws IOException {
        FileIO other = new HadoopFileIO(new Configuration());
        for (String name : List.of("version-hint.text", "v1.metadata.json", "part-00000.parquet", "data.orc")) {
            String location = Wrapped.in(folder, name);
            for (String text : List.of("one", "another", "1")) {
                try (PositionOutputStream out = other.newOutputFile(location).createOrOverwrite()) {
                    out.write(text.getBytes(StandardCharsets.UTF_8));
                }
                assertEquals(text, read(io, location));
            }
            assertFalse(Wrapped.isCached(location));
        }
    }

    @Test
    void aCatalogDoesNotSeeTheFilesOfAnother() throws IOException {
        String location = written("a");
        read(io, location);
        Map<String, String> properties = Wrapped.properties(HadoopFileIO.class.getName());
        properties.put(CachingFileIO.CATALOG, "other");
        CachingFileIO other = new CachingFileIO();
        other.setConf(new Configuration());
        other.initialize(properties);
        Files.writeString(new File(URI.create(location)).toPath(), "b");
        assertEquals("b", read(other, location));
        assertEquals("a", read(io, location));
    }

    @Test
    void icebergMakesItWithTheConfigurationAndTheProperties() {
        Configuration configuration = new Configuration(false);
        configuration.set("some.name", "some value");
        Map<String, String> properties = Wrapped.properties(HadoopFileIO.class.getName());
        FileIO made = CatalogUtil.loadFileIO(CachingFileIO.class.getName(), properties, configuration);
        assertEquals(properties, made.properties());
        assertEquals("some value", ((CachingFileIO) made).getConf().get("some.name"));
    }

    @Test
    void itTravelsInFewBytes() throws Exception {
        Configuration configuration = new Configuration();
        for (int at = 0; at < 500; at++) {
            configuration.set("spark.sql.some.setting." + at, "value of the setting " + at);
        }
        configuration.set("long", "x".repeat(100_000));
        FileIO plain = new HadoopFileIO(configuration);
        CachingFileIO wrapped = Wrapped.over(HadoopFileIO.class, configuration);
        byte[] bytes = serialized(wrapped);
        assertTrue(bytes.length < serialized(plain).length / 5, () -> "bytes: " + bytes.length);
        CachingFileIO first = (CachingFileIO) deserialized(bytes);
        CachingFileIO second = (CachingFileIO) deserialized(serialized(wrapped));
        assertSame(first.getConf(), second.getConf());
        assertEquals(all(configuration), all(first.getConf()));
        String location = written("a");
        assertEquals("a", read(first, location));
        assertTrue(Wrapped.isCached(location));
        assertEquals(wrapped.properties(), first.properties());
        // An executor may pass it on.
        assertEquals(all(configuration), all(((CachingFileIO) deserialized(serialized(first))).getConf()));
    }

    @Test
    void credentialsPassThrough() throws Exception {
        StorageCredential credential = StorageCredential.create("s3://lake", Map.of("s3.session-token", "t"));
        CachingFileIO made = (CachingFileIO) CatalogUtil.loadFileIO(
            CachingFileIO.class.getName(),
            Wrapped.properties(ResolvingFileIO.class.getName()),
            new Configuration(),
            List.of(credential));
        assertEquals(List.of(credential), made.credentials());
        StorageCredential newer = StorageCredential.create("s3://lake", Map.of("s3.session-token", "u"));
        made.setCredentials(List.of(newer));
        assertEquals(List.of(newer), made.credentials());
        assertEquals(List.of(newer), ((CachingFileIO) deserialized(serialized(made))).credentials());
        assertEquals(List.of(), io.credentials());
    }

    @Test
    void aFileIOOfManyStoresReadsLocalFiles() throws IOException {
        CachingFileIO resolving = Wrapped.over(ResolvingFileIO.class);
        String location = written("a");
        assertEquals("a", read(resolving, location));
        assertTrue(Wrapped.isCached(location));
        resolving.deleteFiles(List.of(location));
        assertFalse(new File(URI.create(location)).exists());
        resolving.close();
    }

    @Test
    void whatTheStoreCannotDoIsRefused() throws IOException {
        CachingFileIO plain = Wrapped.over(PlainFileIO.class);
        assertThrows(UnsupportedOperationException.class, () -> plain.listPrefix("memory://lake"));
        assertThrows(UnsupportedOperationException.class, () -> plain.deletePrefix("memory://lake"));
        assertFalse(plain.recoverFile("memory://lake/a"));
        assertNull(new CachingFileIO().getConf());
        String location = "memory://lake/" + Wrapped.metadataName();
        try (PositionOutputStream out = plain.newOutputFile(location).create()) {
            out.write(1);
        }
        BulkDeletionFailureException failure = assertThrows(
            BulkDeletionFailureException.class,
            () -> plain.deleteFiles(List.of("memory://lake/b", location, "memory://lake/c")));
        assertEquals(2, failure.numberFailedObjects());
        assertFalse(Wrapped.isCached(location));
    }

    @Test
    void anEncryptedFileIsCachedAsItIsInTheStore() throws IOException {
        byte[] key = new byte[16];
        byte[] prefix = {1, 2, 3};
        String location = Wrapped.in(folder, Wrapped.metadataName());
        try (PositionOutputStream out = new AesGcmOutputFile(io.newOutputFile(location), key, prefix).create()) {
            out.write("secret".getBytes(StandardCharsets.UTF_8));
        }
        for (int turn = 0; turn < 2; turn++) {
            InputFile decrypting = new AesGcmInputFile(
                io.newInputFile(location), key, prefix, new File(URI.create(location)).length());
            try (SeekableInputStream stream = decrypting.newStream()) {
                assertEquals("secret", new String(stream.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        CachedBytes cached = FileCache.ofThisJvm(Wrapped.MOST_BYTES).find(FileKey.of("lake", location), -1);
        String text = new String(cached.bytes(), StandardCharsets.ISO_8859_1);
        assertTrue(text.startsWith("AGS1"));
        assertFalse(text.contains("secret"));
    }

    @Test
    void manyThreadsReadWhileOthersDelete() throws Exception {
        List<String> locations = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        for (int at = 0; at < 40; at++) {
            texts.add(String.valueOf(at).repeat(1_000 + at));
            locations.add(written(texts.get(at)));
        }
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Future<Void>> all = new ArrayList<>();
        for (int thread = 0; thread < 7; thread++) {
            int first = thread;
            all.add(threads.submit((Callable<Void>) () -> {
                for (int read = 0; read < 2_000; read++) {
                    int at = (first + read * 7) % 40;
                    if (at % 4 != 0) {
                        assertEquals(texts.get(at), read(io, locations.get(at)));
                    }
                }
                return null;
            }));
        }
        all.add(threads.submit((Callable<Void>) () -> {
            for (int at = 0; at < 40; at += 4) {
                read(io, locations.get(at));
                io.deleteFile(locations.get(at));
            }
            return null;
        }));
        threads.shutdown();
        assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
        for (Future<Void> each : all) {
            each.get();
        }
        for (int at = 0; at < 40; at += 4) {
            assertFalse(Wrapped.isCached(locations.get(at)));
        }
    }

    @Test
    void theCacheStaysWithinItsBound() throws IOException {
        for (int at = 0; at < 300; at++) {
            read(io, written("x".repeat(30_000)));
        }
        String[] use = new FileCacheUse().use().split(" ");
        assertTrue(Long.parseLong(use[1]) <= Wrapped.MOST_BYTES);
        assertTrue(Long.parseLong(use[4]) > 0);
        assertEquals(Wrapped.MOST_BYTES, Long.parseLong(use[5]));
    }

    private String written(String text) throws IOException {
        String name = Wrapped.metadataName();
        Files.writeString(new File(folder, name).toPath(), text);
        return Wrapped.in(folder, name);
    }

    private static String read(FileIO io, String location) throws IOException {
        try (SeekableInputStream stream = io.newInputFile(location).newStream()) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static Map<String, String> all(Configuration configuration) {
        return configuration.getPropsWithPrefix("");
    }

    private static byte[] serialized(Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(value);
        }
        return bytes.toByteArray();
    }

    private static Object deserialized(byte[] bytes) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return in.readObject();
        }
    }
}
