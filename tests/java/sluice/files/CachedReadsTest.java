package sluice.files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.hadoop.HadoopInputFile;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.FileRange;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every read through the cache has the bytes, and the ends, of a read without it. */
final class CachedReadsTest {

    private static final int READS = 400;
    private static final int FOOTER = 5_000;
    private static final int LONG_FOOTER = 20_000;

    @TempDir
    private File folder;

    private final CachingFileIO cached = Wrapped.overHadoop();
    private final FileIO own = new HadoopFileIO(new Configuration());

    @ParameterizedTest
    @CsvSource({
        "json, 0, 0", "json, 1, 0", "json, 60000, 0", "json, 200000, 0",
        "parquet, 0, 0", "parquet, 7, 0", "parquet, 20000, 5000", "parquet, 200000, 5000", "parquet, 200000, 20000",
        "parquet, 200000, 40000", "parquet, 200000, 0",
        "avro, 200000, 0", "orc, 20000, 0",
    })
    void randomReadsAreTheSame(String format, int size, int footer) throws IOException {
        String location = written(format, bytes(size, footer, size));
        for (int round = 0; round < 3; round++) {
            long given = round == 1 ? size : -1;
            InputFile ours = given < 0 ? cached.newInputFile(location) : cached.newInputFile(location, given);
            assertEquals(size, ours.getLength());
            assertEquals(location, ours.location());
            assertTrue(ours.exists());
            try (SeekableInputStream mine = ours.newStream();
                    SeekableInputStream theirs = own.newInputFile(location).newStream()) {
                compare(mine, theirs, size, new Random(31L * size + footer + round));
            }
        }
    }

    private static void compare(SeekableInputStream mine, SeekableInputStream theirs, int size, Random random)
            throws IOException {
        byte[] all = theirs.readAllBytes();
        theirs.seek(0);
        for (int read = 0; read < READS; read++) {
            // The ends of a file are read most.
            int position = random.nextInt(3) == 0 ? Math.max(0, size - random.nextInt(12)) : random.nextInt(size + 1);
            if (random.nextInt(4) > 0) {
                mine.seek(position);
                theirs.seek(position);
            }
            assertEquals(theirs.getPos(), mine.getPos());
            int length = random.nextBoolean() ? random.nextInt(20) : random.nextInt(30_000);
            byte[] found = new byte[length + 3];
            byte[] expected = new byte[length + 3];
            switch (random.nextInt(4)) {
                case 0 -> assertEquals(theirs.read(), mine.read());
                case 1 -> assertEquals(theirs.skip(Math.min(length, size - theirs.getPos())),
                    mine.skip(Math.min(length, size - mine.getPos())));
                case 2 -> {
                    // A single read may return fewer bytes, but at least one, and none but at the end.
                    long from = mine.getPos();
                    int count = mine.read(found, 2, length);
                    assertEquals(length == 0 ? 0 : from == size ? -1 : 1, Integer.signum(count));
                    if (count > 0) {
                        byte[] same = Arrays.copyOfRange(all, (int) from, (int) from + count);
                        assertArrayEquals(same, Arrays.copyOfRange(found, 2, 2 + count));
                    }
                    theirs.seek(mine.getPos());
                    assertEquals(from + Math.max(count, 0), mine.getPos());
                }
                default -> {
                    assertEquals(theirs.readNBytes(expected, 1, length), mine.readNBytes(found, 1, length));
                    assertArrayEquals(expected, found);
                }
            }
            if (mine instanceof RangeReadable ranges) {
                compareRanges(ranges, all, random);
            }
        }
        assertThrows(EOFException.class, () -> mine.seek(size + 1L));
        assertThrows(IOException.class, () -> mine.seek(-1));
    }

    private static void compareRanges(RangeReadable ranges, byte[] all, Random random) throws IOException {
        int from = random.nextInt(all.length + 1);
        int length = Math.min(random.nextInt(3_000), all.length - from);
        byte[] found = new byte[length];
        ranges.readFully(from, found, 0, length);
        assertArrayEquals(Arrays.copyOfRange(all, from, from + length), found);
        byte[] tail = new byte[length];
        assertEquals(length, ranges.readTail(tail, 0, length));
        assertArrayEquals(Arrays.copyOfRange(all, all.length - length, all.length), tail);
        byte[] more = new byte[all.length + 1];
        assertThrows(EOFException.class, () -> ranges.readFully(from, more, 0, all.length - from + 1));
        for (boolean isDirect : new boolean[] {false, true}) {
            List<FileRange> wanted = new ArrayList<>();
            wanted.add(new FileRange(new CompletableFuture<>(), from, length));
            ranges.readVectored(wanted, isDirect ? ByteBuffer::allocateDirect : ByteBuffer::allocate);
            ByteBuffer read = wanted.get(0).byteBuffer().join();
            byte[] vectored = new byte[length];
            read.get(vectored);
            assertArrayEquals(found, vectored);
        }
    }

    @Test
    void aSmallFileIsReadOnce() throws IOException {
        String location = written("json", bytes(3_000, 0, 1));
        read(cached, location);
        Files.delete(new File(folder, name(location)).toPath());
        assertArrayEquals(bytes(3_000, 0, 1), read(cached, location));
        assertEquals(3_000, cached.newInputFile(location).getLength());
        assertFalse(cached.newInputFile(location).exists());
    }

    @ParameterizedTest
    @CsvSource({"5000, true", "20000, true", "40000, false"})
    void aFooterIsCachedIfItIsNotTooLong(int footer, boolean isCached) throws IOException {
        byte[] all = bytes(200_000, footer, 1);
        String location = written("parquet", all);
        try (SeekableInputStream stream = cached.newInputFile(location).newStream()) {
            stream.seek(all.length - 8);
            byte[] end = stream.readNBytes(8);
            assertArrayEquals(Arrays.copyOfRange(all, all.length - 8, all.length), end);
        }
        assertEquals(isCached, Wrapped.isCached(location));
        if (isCached) {
            Files.delete(new File(folder, name(location)).toPath());
            try (SeekableInputStream stream = cached.newInputFile(location, all.length).newStream()) {
                stream.seek(all.length - footer);
                assertArrayEquals(Arrays.copyOfRange(all, all.length - footer, all.length), stream.readNBytes(footer));
                stream.seek(0);
                assertThrows(IOException.class, () -> stream.read());
            }
        }
    }

    @Test
    void aFooterThatIsEvictedWhileItsFileIsOpenedIsStillOneOfThatFile() throws IOException {
        byte[] before = bytes(200_000, FOOTER, 1);
        String location = written("parquet", before);
        read(cached, location);
        byte[] after = bytes(190_000, FOOTER, 2);
        FileCache cache = FileCache.ofThisJvm(Wrapped.MOST_BYTES);
        FileKey key = FileKey.of("lake", location);
        InputFile file = new CachedInputFile(cache, key, location, true, Wrapped.LARGEST_DATA, -1, () -> {
            cache.remove(key);
            try {
                Files.write(new File(folder, name(location)).toPath(), after);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
            return own.newInputFile(location);
        });
        try (SeekableInputStream stream = file.newStream()) {
            stream.seek(file.getLength() - FOOTER);
            byte[] footer = Arrays.copyOfRange(before, before.length - FOOTER, before.length);
            assertArrayEquals(footer, stream.readNBytes(FOOTER));
        }
    }

    @Test
    void whereNoFooterMayBeCachedNoneIsLookedFor() throws IOException {
        byte[] all = bytes(200_000, FOOTER, 1);
        String location = written("parquet", all);
        Map<String, String> properties = Wrapped.properties(HadoopFileIO.class.getName());
        properties.put(CachingFileIO.MAX_DATA_FILE_BYTES, "0");
        CachingFileIO without = new CachingFileIO();
        without.setConf(new Configuration());
        without.initialize(properties);
        long before = bytesOfThisThread();
        try (SeekableInputStream stream = without.newInputFile(location).newStream()) {
            stream.seek(all.length - 8);
            assertArrayEquals(Arrays.copyOfRange(all, all.length - 8, all.length), stream.readNBytes(8));
        }
        assertEquals(8, bytesOfThisThread() - before);
    }

    @Test
    void positionsMayBeAboveThoseOfAnInteger() throws IOException {
        byte[] end = bytes(40_000, FOOTER, 1);
        long size = (5L << 30) + 17;
        long inside = (3L << 30) + 5;
        String location = Wrapped.in(folder, Wrapped.dataName("parquet"));
        try (RandomAccessFile file = new RandomAccessFile(new File(folder, name(location)), "rw")) {
            file.seek(inside);
            file.write(end, 0, 3);
            file.seek(size - end.length);
            file.write(end);
        }
        for (int round = 0; round < 2; round++) {
            InputFile file = cached.newInputFile(location);
            assertEquals(size, file.getLength());
            try (SeekableInputStream stream = file.newStream()) {
                stream.seek(size - 8);
                assertArrayEquals(Arrays.copyOfRange(end, end.length - 8, end.length), stream.readNBytes(8));
                stream.seek(size - end.length);
                assertArrayEquals(end, stream.readAllBytes());
                stream.seek(0);
                stream.skipNBytes(inside);
                assertArrayEquals(Arrays.copyOf(end, 3), stream.readNBytes(3));
                byte[] found = new byte[3];
                ((RangeReadable) stream).readFully(inside, found);
                assertArrayEquals(Arrays.copyOf(end, 3), found);
            }
            assertTrue(Wrapped.isCached(location));
        }
    }

    @Test
    void noFileOfTheCacheIsOneOfHadoop() throws IOException {
        String location = written("parquet", bytes(200_000, FOOTER, 1));
        assertFalse(cached.newInputFile(location) instanceof HadoopInputFile);
        String orc = written("orc", bytes(20, 0, 1));
        assertInstanceOf(HadoopInputFile.class, cached.newInputFile(orc));
    }

    @Test
    void bytesFromTheDiskCountAsSparkCountsThem() throws IOException {
        String location = written("parquet", bytes(200_000, LONG_FOOTER, 1));
        long before = bytesOfThisThread();
        read(cached, location);
        assertTrue(bytesOfThisThread() - before >= 200_000);
        String small = written("parquet", bytes(20_000, FOOTER, 1));
        read(cached, small);
        long between = bytesOfThisThread();
        read(cached, small);
        assertEquals(between, bytesOfThisThread());
    }

    private static long bytesOfThisThread() {
        return FileSystem.getAllStatistics()
            .stream()
            .mapToLong(each -> each.getThreadStatistics().getBytesRead())
            .sum();
    }

    @Test
    void aMissingFileIsMissingInTheUsualWay() {
        for (String name : List.of(Wrapped.metadataName(), Wrapped.dataName("parquet"))) {
            String location = Wrapped.in(folder, name);
            assertThrows(NotFoundException.class, () -> cached.newInputFile(location).newStream());
            assertThrows(NotFoundException.class, () -> cached.newInputFile(location, 10).newStream());
            assertThrows(NotFoundException.class, () -> cached.newInputFile(location, 1_000_000).newStream());
            assertFalse(cached.newInputFile(location).exists());
        }
    }

    @Test
    void aFileThatIsNotAsLongAsItShouldBeIsNotCached() throws IOException {
        String location = written("json", bytes(3_000, 0, 1));
        for (int size : new int[] {2_999, 3_001}) {
            try (SeekableInputStream stream = cached.newInputFile(location, size).newStream()) {
                assertArrayEquals(bytes(3_000, 0, 1), stream.readAllBytes());
            }
            assertFalse(Wrapped.isCached(location));
        }
    }

    @Test
    void pathsAreTakenAsTheyAre() throws IOException {
        for (String name : List.of("kind=a%2Fb", "a b+c", "at=10:00:00", "100%", "é😀", "#?&", "[1]*")) {
            File inside = new File(folder, name);
            assertTrue(inside.mkdir());
            for (int size : new int[] {2_000, 200_000}) {
                byte[] all = bytes(size, 500, 1);
                File file = new File(inside, Wrapped.dataName("parquet"));
                Files.write(file.toPath(), all);
                for (String location : List.of("file:" + file, "file://" + file, file.getPath())) {
                    assertArrayEquals(all, read(cached, location));
                }
            }
        }
    }

    @Test
    void aFileThatIsNoParquetHasNoFooter() throws IOException {
        byte[] all = bytes(200_000, 0, 1);
        String location = written("parquet", all);
        assertArrayEquals(all, read(cached, location));
        assertFalse(Wrapped.isCached(location));
    }

    @Test
    void aClosedStreamIsClosed() throws IOException {
        for (int size : new int[] {2_000, 200_000}) {
            String location = written("parquet", bytes(size, 100, 1));
            SeekableInputStream stream = cached.newInputFile(location).newStream();
            stream.close();
            stream.close();
            assertThrows(IOException.class, () -> stream.read(new byte[10], 0, 10));
        }
    }

    @Test
    void aStoreWithoutHadoopIsReadByItsOwnStreams() throws IOException {
        CachingFileIO memory = Wrapped.over(InMemoryFileIO.class);
        byte[] all = bytes(200_000, FOOTER, 1);
        String location = "memory://lake/" + Wrapped.dataName("parquet");
        try (var out = memory.newOutputFile(location).create()) {
            out.write(all);
        }
        assertArrayEquals(all, read(memory, location));
        assertTrue(Wrapped.isCached(location));
        assertArrayEquals(all, read(memory, location));
    }

    private static byte[] read(FileIO io, String location) throws IOException {
        try (SeekableInputStream stream = io.newInputFile(location).newStream()) {
            byte[] read = stream.readAllBytes();
            // As a reader of Parquet begins.
            stream.seek(Math.max(0, read.length - 8));
            assertEquals(Math.min(read.length, 8), stream.readNBytes(8).length);
            return read;
        }
    }

    private String written(String format, byte[] bytes) throws IOException {
        String name = format.equals("json") ? Wrapped.metadataName() : Wrapped.dataName(format);
        Files.write(new File(folder, name).toPath(), bytes);
        return Wrapped.in(folder, name);
    }

    private static String name(String location) {
        return location.substring(location.lastIndexOf('/') + 1);
    }

    /** Returns random bytes. With a footer, they end with its size and the magic word; it has them, too. */
    static byte[] bytes(int size, int footer, long seed) {
        byte[] bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        if (footer > 0) {
            ByteBuffer end = ByteBuffer.wrap(bytes, size - 8, 8).order(ByteOrder.LITTLE_ENDIAN);
            end.putInt(footer - 8).put("PAR1".getBytes(StandardCharsets.US_ASCII));
        }
        return bytes;
    }
}
