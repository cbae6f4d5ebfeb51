package sluice.rowgroups;

/** A scan that does not plan files of which readers have noted that its filter selects no row group. */
public interface FilesLeftOut {

    /** Returns how many files the scan has left out for that reason alone; 0 before it has planned its files. */
    long filesLeftOut();
}
