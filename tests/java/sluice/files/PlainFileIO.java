package sluice.files;

import java.util.Map;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;

/** A `FileIO` that does the least that one must, and fails to delete what is not there. */
public final class PlainFileIO implements FileIO {

    private static final long serialVersionUID = 1;

    private final transient InMemoryFileIO memory = new InMemoryFileIO();

    @Override
    public void initialize(Map<String, String> properties) {
        memory.initialize(properties);
    }

    @Override
    public InputFile newInputFile(String location) {
        return memory.newInputFile(location);
    }

    @Override
    public OutputFile newOutputFile(String location) {
        return memory.newOutputFile(location);
    }

    @Override
    public void deleteFile(String location) {
        memory.deleteFile(location);
    }
}
