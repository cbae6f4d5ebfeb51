"""The functions that row filters and masks may call."""

from __future__ import annotations

SAFE_FUNCTIONS = frozenset(
    {
        # Conditions and nulls.
        *("between", "coalesce", "if", "ifnull", "isnan", "isnotnull", "isnull", "nullif", "nvl", "nvl2"),
        *("greatest", "least"),
        # Texts.
        *(
            "ascii",
            "bit_length",
            "btrim",
            "char_length",
            "character_length",
            "concat",
            "concat_ws",
            "contains",
        ),
        *(
            "endswith",
            "initcap",
            "instr",
            "lcase",
            "left",
            "len",
            "length",
            "like",
            "locate",
            "lower",
            "ltrim",
        ),
        *("mask", "octet_length", "position", "replace", "right", "rtrim", "split_part", "startswith"),
        *("substr", "substring", "substring_index", "translate", "trim", "ucase", "upper"),
        # Numbers.
        *("abs", "ceil", "ceiling", "floor", "mod", "pmod", "round", "bround", "sign", "signum"),
        # Dates and times. They know no current time.
        *(
            "add_months",
            "date_add",
            "date_format",
            "date_from_unix_date",
            "date_part",
            "date_sub",
            "date_trunc",
        ),
        *(
            "dateadd",
            "datediff",
            "datepart",
            "day",
            "dayofmonth",
            "dayofweek",
            "dayofyear",
            "extract",
            "hour",
        ),
        *("last_day", "make_date", "minute", "month", "months_between", "quarter", "second", "to_date"),
        *("to_timestamp", "trunc", "weekday", "weekofyear", "year"),
        # Hashes.
        *("crc32", "hash", "hex", "md5", "sha", "sha1", "sha2", "xxhash64"),
        # Collections.
        *("array", "array_contains", "arrays_overlap", "cardinality", "element_at", "map_contains_key"),
        *("named_struct", "size", "struct"),
    }
)
"""Each has the same result for the same row, in a time that the row's size bounds, and reads nothing else.

Functions of regular expressions are left out: a pattern can take long on a value that a caller chose. So are
functions that make a value much longer, and those that know the caller, the file or the time.
"""
