package sluice.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.PositionOutputStream;
import org.apache.iceberg.io.ResolvingFileIO;
import org.apache.iceberg.io.StorageCredential;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** It is a `CachingFileIO`, and only its class is another. */
final class NativelyReadFileIOTest {

    /** It asks the properties which class would read a location, and is for those who know what this class is. */
    private static final Set<String> STAY = Set.of("ioClass");

    @TempDir
    private File folder;

    @Test
    void everythingThatIsInheritedIsReplaced() {
        Set<String> left = new TreeSet<>();
        for (Method inherited : ResolvingFileIO.class.getDeclaredMethods()) {
            int modifiers = inherited.getModifiers();
            boolean isOpen = Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
            if (isOpen && !inherited.isSynthetic() && !isReplaced(inherited)) {
                left.add(inherited.getName());
            }
        }
        assertEquals(STAY, left);
    }

    private static boolean isReplaced(Method inherited) {
        return Arrays.stream(NativelyReadFileIO.class.getDeclaredMethods()).anyMatch(own ->
            own.getName().equals(inherited.getName())
                && Arrays.equals(own.getParameterTypes(), inherited.getParameterTypes()));
    }

    @Test
    void itReadsThroughTheCacheAlsoWhereItIsSent() throws Exception {
        Map<String, String> properties = Wrapped.properties(HadoopFileIO.class.getName());
        Configuration configuration = new Configuration(false);
        configuration.set("some.name", "some value");
        FileIO made = CatalogUtil.loadFileIO(NativelyReadFileIO.class.getName(), properties, configuration);
        assertEquals(properties, made.properties());
        String location = Wrapped.in(folder, Wrapped.metadataName());
        try (PositionOutputStream out = made.newOutputFile(location).create()) {
            out.write("a".getBytes(StandardCharsets.UTF_8));
        }
        NativelyReadFileIO sent = sent(made);
        assertEquals("some value", ((NativelyReadFileIO) made).getConf().get("some.name"));
        assertEquals(properties, sent.properties());
        assertFalse(Wrapped.isCached(location));
        assertEquals("a", read(sent, location));
        assertTrue(Wrapped.isCached(location));
        sent.deleteFiles(List.of(location));
        assertFalse(Wrapped.isCached(location));
        assertFalse(new File(URI.create(location)).exists());
        sent.close();
    }

    @Test
    void credentialsPassThrough() throws Exception {
        StorageCredential credential = StorageCredential.create("s3://lake", Map.of("s3.session-token", "t"));
        NativelyReadFileIO made = (NativelyReadFileIO) CatalogUtil.loadFileIO(
            NativelyReadFileIO.class.getName(),
            Wrapped.properties(ResolvingFileIO.class.getName()),
            new Configuration(),
            List.of(credential));
        assertEquals(List.of(credential), made.credentials());
        assertEquals(List.of(credential), sent(made).credentials());
    }

    private static NativelyReadFileIO sent(FileIO io) throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(io);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (NativelyReadFileIO) in.readObject();
        }
    }

    private static String read(FileIO io, String location) throws IOException {
        try (var stream = io.newInputFile(location).newStream()) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
