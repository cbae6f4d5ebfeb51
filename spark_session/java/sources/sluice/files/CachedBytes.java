package sluice.files;

/** The last bytes of a file, or all of them. */
record CachedBytes(long fileBytes, byte[] bytes) {

    boolean isWhole() {
        return bytes.length == fileBytes;
    }

    /** Returns the position in the file of the first byte. */
    long from() {
        return fileBytes - bytes.length;
    }
}
