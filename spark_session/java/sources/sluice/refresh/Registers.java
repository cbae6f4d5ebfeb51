package sluice.refresh;

import java.io.Serializable;
import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.HyperLogLogPlusPlusHelper;

/**
 * The registers of HyperLogLog++ as bytes.
 *
 * <p>In a buffer of Spark, ten registers are in each word. As bytes, they are these words, or only those registers that
 * are not zero, with their numbers: whichever is shorter. So a group of few values takes few bytes.
 */
final class Registers implements Serializable {

    private static final long serialVersionUID = 1;

    private static final int SIZE = HyperLogLogPlusPlusHelper.REGISTER_SIZE();
    private static final long MASK = HyperLogLogPlusPlusHelper.REGISTER_WORD_MASK();
    private static final int PER_WORD = HyperLogLogPlusPlusHelper.REGISTERS_PER_WORD();

    /** A register by its number: 18 bits of that, and the register. */
    private static final int NUMBERED_BYTES = 3;
    private static final int MAX_NUMBERED = 1 << (Byte.SIZE * NUMBERED_BYTES - SIZE);

    private final int firstField;
    private final int words;

    /** They are in so many words of a buffer, from this field on. */
    Registers(int firstField, int words) {
        this.firstField = firstField;
        this.words = words;
    }

    /** Returns the registers of a buffer. */
    byte[] read(InternalRow buffer) {
        int numbered = 0;
        for (int register = 0; register < words * PER_WORD; register++) {
            numbered += get(buffer, register) == 0 ? 0 : NUMBERED_BYTES;
        }
        boolean isNumbered = numbered < words * Long.BYTES && words * PER_WORD <= MAX_NUMBERED;
        return isNumbered ? numbered(buffer, numbered) : all(buffer);
    }

    /** Raises each register of the buffer to the one that `read` has returned of another buffer. */
    void raise(InternalRow buffer, byte[] other) {
        ByteBuffer bytes = ByteBuffer.wrap(other);
        if (other.length < words * Long.BYTES) {
            while (bytes.hasRemaining()) {
                int found = (bytes.get() & 0xff) << 16 | (bytes.get() & 0xff) << 8 | bytes.get() & 0xff;
                raise(buffer, found >>> SIZE, found & MASK);
            }
            return;
        }
        for (int word = 0; word < words; word++) {
            long found = bytes.getLong();
            for (int place = 0; place < PER_WORD; place++) {
                raise(buffer, word * PER_WORD + place, found >>> (SIZE * place) & MASK);
            }
        }
    }

    private byte[] numbered(InternalRow buffer, int length) {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        for (int register = 0; register < words * PER_WORD; register++) {
            long value = get(buffer, register);
            if (value != 0) {
                int both = register << SIZE | (int) value;
                bytes.put((byte) (both >>> 16)).put((byte) (both >>> 8)).put((byte) both);
            }
        }
        return bytes.array();
    }

    private byte[] all(InternalRow buffer) {
        ByteBuffer bytes = ByteBuffer.allocate(words * Long.BYTES);
        for (int word = 0; word < words; word++) {
            bytes.putLong(buffer.getLong(firstField + word));
        }
        return bytes.array();
    }

    private long get(InternalRow buffer, int register) {
        return buffer.getLong(firstField + register / PER_WORD) >>> (SIZE * (register % PER_WORD)) & MASK;
    }

    private void raise(InternalRow buffer, int register, long value) {
        if (value > get(buffer, register)) {
            int field = firstField + register / PER_WORD;
            int shift = SIZE * (register % PER_WORD);
            buffer.setLong(field, buffer.getLong(field) & ~(MASK << shift) | value << shift);
        }
    }
}
