package sluice.files;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.util.SerializableSupplier;
import sluice.collections.LruMap;

/**
 * Hadoop's configuration, which travels with each table that is sent to executors. It travels as few bytes, is written
 * once for each catalog, and read once in each JVM.
 */
final class SmallConfiguration implements SerializableSupplier<Configuration> {

    private static final long serialVersionUID = 1;
    private static final int READ_AT_MOST = 64;
    /** By identity: a configuration is equal to none but itself. */
    private static final Map<Configuration, byte[]> WRITTEN = new WeakHashMap<>();
    private static final Map<ByteBuffer, Configuration> READ = new LruMap<>(READ_AT_MOST);

    private final byte[] packed;
    private transient volatile Configuration configuration;

    private SmallConfiguration(Configuration configuration, byte[] packed) {
        this.configuration = configuration;
        this.packed = packed;
    }

    /** Returns the configuration as it is at the first call: a catalog does not change its own. */
    static SmallConfiguration of(Configuration configuration) {
        synchronized (WRITTEN) {
            byte[] packed = WRITTEN.computeIfAbsent(configuration, SmallConfiguration::packed);
            return new SmallConfiguration(configuration, packed);
        }
    }

    /** Returns the configuration. Those that were read, and are equal, are the same object: nobody may change it. */
    @Override
    public Configuration get() {
        if (configuration == null) {
            synchronized (READ) {
                configuration = READ.computeIfAbsent(ByteBuffer.wrap(packed), SmallConfiguration::unpacked);
            }
        }
        return configuration;
    }

    private static byte[] packed(Configuration configuration) {
        List<Map.Entry<String, String>> entries = new ArrayList<>();
        configuration.forEach(entries::add);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(new DeflaterOutputStream(bytes))) {
            out.writeInt(entries.size());
            for (Map.Entry<String, String> entry : entries) {
                write(entry.getKey(), out);
                write(entry.getValue(), out);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return bytes.toByteArray();
    }

    private static Configuration unpacked(ByteBuffer packed) {
        Configuration configuration = new Configuration(false);
        try (DataInputStream in =
                new DataInputStream(new InflaterInputStream(new ByteArrayInputStream(packed.array())))) {
            for (int left = in.readInt(); left > 0; left--) {
                String name = read(in);
                configuration.set(name, read(in));
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return configuration;
    }

    // Values may be longer than `writeUTF` allows.
    private static void write(String text, DataOutputStream out) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String read(DataInputStream in) throws IOException {
        return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
    }
}
