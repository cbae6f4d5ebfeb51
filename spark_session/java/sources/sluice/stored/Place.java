package sluice.stored;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Where the parts of one result are written, as this process reaches it. */
interface Place {

    /** Returns the place at this address. `properties` are those of an object store; a folder needs none. */
    static Place at(String address, Map<String, String> properties) throws IOException {
        return address.startsWith(ObjectPrefix.SCHEME) ? ObjectPrefix.at(address, properties) : Folder.at(address);
    }

    /** Makes the place ready for parts; the driver does it once. */
    void prepare() throws IOException;

    /** Begins a part. */
    PartFile create(String name) throws IOException;

    /** Fills the bytes from a part, from the offset on. */
    void read(String name, long offset, byte[] bytes) throws IOException;

    /** Deletes parts; those that cannot be deleted now go with the result. */
    void delete(List<String> names);
}
