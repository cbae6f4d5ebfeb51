package sluice.stored;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A result cut to its limits: the parts before the cut, and the batch in which it is cut. */
public final class WrittenResult {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Map<String, Object> description = new LinkedHashMap<>();
    private final ByteArrayOutputStream inline = new ByteArrayOutputStream();

    private WrittenResult() {}

    static WrittenResult failed(Part.Failure failure) {
        WrittenResult result = new WrittenResult();
        result.description.put("failure", failure.name());
        return result;
    }

    static WrittenResult of(List<Part> parts, long mostRows, long mostBytes, Place place) throws IOException {
        WrittenResult result = new WrittenResult();
        List<Object> kept = new ArrayList<>();
        result.description.put("parts", kept);
        result.description.put("rows", parts.stream().mapToLong(Part::rows).sum());
        long rows = 0;
        long bytes = 0;
        for (Part part : parts) {
            List<Object> batches = new ArrayList<>();
            for (Batch batch : part.batches()) {
                rows += batch.rows();
                bytes += batch.bytes();
                if (rows > mostRows || bytes > mostBytes) {
                    result.add(kept, part, batches);
                    result.description.put("edge", result.moved(part, batch, place));
                    return result;
                }
                batches.add(part.file() == null ? result.moved(part, batch, place) : numbers(batch));
            }
            result.add(kept, part, batches);
        }
        return result;
    }

    /**
     * JSON: `parts` of `file` and `batches`, each [offset, length, rows, bytes]; `edge`, the batch that the result's
     * limits cut, if they do; `rows`, the number of those that were seen; or `failure`. Batches without a file, and the
     * edge, are in `inline`.
     */
    public String description() throws IOException {
        return MAPPER.writeValueAsString(description);
    }

    /** The messages that are not in files. */
    public byte[] inline() {
        return inline.toByteArray();
    }

    private void add(List<Object> kept, Part part, List<Object> batches) {
        if (!batches.isEmpty()) {
            Map<String, Object> described = new LinkedHashMap<>();
            described.put("file", part.file());
            described.put("batches", batches);
            kept.add(described);
        }
    }

    private long[] moved(Part part, Batch batch, Place place) throws IOException {
        Batch here = batch.shifted(inline.size() - batch.offset());
        inline.writeBytes(message(part, batch, place));
        return numbers(here);
    }

    private static byte[] message(Part part, Batch batch, Place place) throws IOException {
        byte[] message = new byte[Math.toIntExact(batch.length())];
        if (part.file() == null) {
            System.arraycopy(part.inline(), Math.toIntExact(batch.offset()), message, 0, message.length);
            return message;
        }
        place.read(part.file(), batch.offset(), message);
        return message;
    }

    private static long[] numbers(Batch batch) {
        return new long[] {batch.offset(), batch.length(), batch.rows(), batch.bytes()};
    }
}
