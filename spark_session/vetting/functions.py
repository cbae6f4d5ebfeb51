"""Decisions on Spark's built-in functions: those of its registry, in expressions and in place of tables."""

from __future__ import annotations

from collections.abc import Mapping

from spark_session.vetting.decision import Decision, Ruling, allowed, bounded, names_with, refused, table_of

_VALUE = "max_value_bytes"
_COPIES = "max_row_copies"
_DIGITS = "bround ceil ceiling floor format_number round"
_LISTED = "listagg string_agg"
_SEPARATOR = "1,000 bytes of the separator"

_GROUPS = (
    # ---- from one row's values alone ----------------------------------------------------------------
    allowed(
        "Compares or combines its arguments.",
        "! < <= <=> = == > >= and or not between equal_null in isnan isnotnull isnull like ilike "
        "coalesce if ifnull nanvl nullif nullifzero nvl nvl2 when zeroifnull greatest least",
        is_policy_safe=True,
    ),
    allowed(
        "Calculates a number from numbers.",
        "% * + - / & << >> >>> ^ | ~ abs acos acosh asin asinh atan atan2 atanh bin bit_count bit_get cbrt "
        "conv "
        "cos cosh cot csc degrees div e exp expm1 factorial getbit hypot ln log log10 log1p log2 mod "
        "negative pi "
        "pmod positive pow power radians rint sec shiftleft shiftright shiftrightunsigned sign signum sin "
        "sinh "
        "sqrt tan tanh try_add try_divide try_mod try_multiply try_subtract width_bucket",
        is_policy_safe=True,
    ),
    allowed(
        "Converts a value to another type.",
        "bigint binary boolean cast date decimal double float int smallint string time timestamp tinyint "
        "to_binary to_char to_number to_varchar try_to_binary try_to_number",
        is_policy_safe=True,
    ),
    allowed(
        "Calculates a date, a time or an interval from its arguments.",
        "add_months convert_timezone date_add date_diff date_format date_from_unix_date date_part date_sub "
        "date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear extract "
        "from_unixtime "
        "from_utc_timestamp hour last_day make_date make_dt_interval make_interval make_time make_timestamp "
        "make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month monthname months_between "
        "next_day "
        "quarter second time_diff time_trunc timestamp_micros timestamp_millis timestamp_seconds to_date "
        "to_time "
        "to_timestamp to_timestamp_ltz to_timestamp_ntz to_utc_timestamp trunc try_make_interval "
        "try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_time "
        "try_to_timestamp unix_date unix_micros unix_millis unix_seconds weekday weekofyear year",
        is_policy_safe=True,
    ),
    allowed(
        "Makes a text of a text, no longer than a small multiple of it.",
        "ascii bit_length btrim char char_length character_length chr contains decode elt encode endswith "
        "find_in_set initcap instr is_valid_utf8 lcase left len length locate lower ltrim luhn_check "
        "make_valid_utf8 mask octet_length overlay position quote right rtrim soundex split_part startswith "
        "substr substring substring_index trim try_validate_utf8 ucase unbase64 unhex upper validate_utf8 "
        "url_decode try_url_decode parse_url try_parse_url collate collation",
        is_policy_safe=True,
    ),
    allowed("Hashes a value.", "crc32 hash md5 sha sha1 sha2 xxhash64", is_policy_safe=True),
    allowed(
        "Reads or combines fields, elements and entries.",
        "array array_append array_compact array_contains array_max array_min array_position array_prepend "
        "array_remove array_size arrays_zip cardinality element_at flatten get map map_concat "
        "map_contains_key "
        "map_entries map_from_arrays map_from_entries map_keys map_values named_struct reverse size slice "
        "sort_array struct try_element_at typeof",
        is_policy_safe=True,
    ),
    allowed(
        "Compares elements with elements. Arrays within arrays take the square of their length.",
        "array_distinct array_except array_intersect array_union arrays_overlap",
    ),
    allowed(
        "Searches a text with a regular expression. A pattern can take long on one text, so it is not for "
        "policies.",
        "regexp regexp_count regexp_extract regexp_instr regexp_like regexp_substr rlike",
    ),
    allowed(
        "Reads or writes JSON, VARIANT or XML within the value. It opens nothing.",
        "get_json_object is_variant_null json_array_length json_object_keys parse_json schema_of_json "
        "schema_of_variant to_variant_object to_xml try_parse_json try_variant_get variant_get",
    ),
    allowed(
        "Reads or writes geometry within the value.",
        "st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid",
    ),
    allowed(
        "Encrypts or decrypts with the key that the query gives. The gateway has no keys for it.",
        "aes_decrypt aes_encrypt try_aes_decrypt",
    ),
    # ---- not from one row alone ----------------------------------------------------------------------
    allowed(
        "Names the caller, as the gateway has authenticated it. Policies may not call it, because keys and "
        "rows are shared between callers.",
        "current_user session_user user",
    ),
    allowed("Names the query's catalog and schema.", "current_catalog current_database current_schema"),
    allowed(
        "Depends on the clock or on the session's time zone.",
        "curdate current_date current_time current_timestamp current_timezone localtimestamp now "
        "to_unix_timestamp unix_timestamp",
    ),
    allowed(
        "Depends on chance, or on how rows are divided.",
        "monotonically_increasing_id rand randn random shuffle spark_partition_id uniform uuid",
    ),
    allowed("Names the version of Spark. It is public.", "version"),
    allowed(
        "Fails the query on purpose. In a policy, the failure would show which rows there are.",
        "assert_true raise_error",
    ),
    allowed(
        "Aggregates rows in memory that does not grow with them, or that Spark bounds.",
        "any any_value approx_percentile approx_top_k approx_top_k_accumulate approx_top_k_combine "
        "approx_top_k_estimate avg bit_and bit_or bit_xor bitmap_and_agg bitmap_bit_position "
        "bitmap_bucket_number "
        "bitmap_construct_agg bitmap_count bitmap_or_agg bool_and bool_or corr count count_if covar_pop "
        "covar_samp "
        "every first first_value grouping grouping_id hll_sketch_agg hll_sketch_estimate hll_union "
        "hll_union_agg "
        "kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint "
        "kll_sketch_agg_double kll_sketch_agg_float kll_sketch_get_n_bigint kll_sketch_get_n_double "
        "kll_sketch_get_n_float kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double "
        "kll_sketch_get_quantile_float kll_sketch_get_rank_bigint kll_sketch_get_rank_double "
        "kll_sketch_get_rank_float kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float "
        "kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float kurtosis last "
        "last_value max max_by mean min min_by percentile_approx regr_avgx regr_avgy regr_count "
        "regr_intercept "
        "regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev "
        "stddev_pop "
        "stddev_samp sum theta_difference theta_intersection theta_intersection_agg theta_sketch_estimate "
        "theta_union try_avg try_sum var_pop var_samp variance",
    ),
    allowed(
        "Aggregates rows in memory that grows with them. The query's timeout and the engine's memory watch "
        "end it.",
        "array_agg collect_list collect_set histogram_numeric median mode percentile percentile_cont "
        "percentile_disc",
    ),
    allowed(
        "Ranks rows, or reads a neighbour of a row.",
        "cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number",
    ),
    allowed(
        "Makes rows of the elements of a value.",
        "explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer",
    ),
    allowed(
        "Groups rows by gaps between their times, or reads a window's end.", "session_window window_time"
    ),
    # ---- bounded --------------------------------------------------------------------------------------
    bounded(
        "Joins its arguments, so nesting it multiplies.",
        _VALUE,
        "concat concat_ws hex base64 url_encode translate replace",
        is_policy_safe=True,
    ),
    bounded(
        "Makes a long value of a short text.",
        _VALUE,
        "array_insert array_join array_repeat lpad randstr regexp_replace repeat rpad sequence space "
        "format_string "
        "printf",
    ),
    bounded(
        "Makes many small objects of one text. Options may only choose a form.",
        _VALUE,
        "from_json regexp_extract_all sentences split str_to_map to_json",
    ),
    bounded(
        "Reads or writes CSV within the value. Options may only choose a form: some of Spark's take memory.",
        _VALUE,
        "from_csv schema_of_csv to_csv",
    ),
    bounded(
        "Reads an XML document within the value. Entities that expand are bounded, and no file or address "
        "is opened.",
        "the JVM's limits of entities",
        "xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short "
        "xpath_string",
    ),
    bounded(
        "Runs a lambda for each element. Lambdas within lambdas multiply.",
        _VALUE,
        "aggregate array_sort exists filter forall map_filter map_zip_with reduce transform transform_keys "
        "transform_values zip_with",
    ),
    bounded("Makes several rows of one.", _COPIES, "stack window"),
    bounded(
        "Rounds to so many digits; digits without end would take memory.",
        "400 digits",
        _DIGITS,
        is_policy_safe=True,
    ),
    bounded(
        "Aggregates in a sketch whose size the query chooses.",
        _VALUE,
        "count_min_sketch theta_sketch_agg theta_union_agg",
    ),
    bounded(
        "Aggregates in a sketch whose size the query chooses.",
        "a deviation of 0.005",
        "approx_count_distinct",
    ),
    bounded("Compares each character with each.", "2,000,000,000 steps", "levenshtein"),
    bounded("Joins the texts of rows. Its separator is written once for each row.", _SEPARATOR, _LISTED),
    # ---- refused --------------------------------------------------------------------------------------
    refused("Runs any method of Java.", "java_method reflect try_reflect"),
    refused(
        "Opens the file or address that its options name as a schema.",
        "from_avro from_protobuf from_xml schema_of_avro schema_of_xml to_avro to_protobuf",
    ),
    refused(
        "Shows where data files lie. Its value is also lost or wrong after a join.",
        "input_file_block_length input_file_block_start input_file_name",
    ),
)

_TABLE_GROUPS = (
    allowed(
        "Makes rows of the elements of a value.",
        "explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer variant_explode "
        "variant_explode_outer",
    ),
    allowed("Lists words and collations of Spark. They are public.", "collations sql_keywords"),
    bounded("Makes so many rows, in so many partitions. Rows are streamed.", "max_partitions", "range"),
    bounded("Makes several rows of one.", _COPIES, "stack"),
    refused("Shows the logs of Python code in the engine.", "python_worker_logs"),
)

FUNCTIONS: Mapping[str, Decision] = table_of(_GROUPS)
"""Every function of Spark's registry, and those that Spark calls by other names in expressions."""

TABLE_FUNCTIONS: Mapping[str, Decision] = table_of(_TABLE_GROUPS)
"""Every function of Spark's registry that may stand in place of a table."""

ICEBERG_FUNCTIONS = frozenset({"bucket", "days", "hours", "iceberg_version", "months", "truncate", "years"})
"""The functions in the schema `system` of each Iceberg catalog. They calculate a partition's value."""

POLICY_SAFE = frozenset(name for name, decision in FUNCTIONS.items() if decision.is_policy_safe)
"""Functions that are deterministic, cheap and safe in a row filter or a mask.

Each gives the same value for the same arguments, from one row, in time and memory that are proportional to
them.
"""

NAMES_THE_CALLER = frozenset({"current_user", "session_user", "user"})
"""Functions whose value depends on the caller. Policies may not call them: keys and rows are shared."""

OFFERED = names_with(FUNCTIONS, Ruling.ALLOWED, Ruling.BOUNDED)
OFFERED_TABLE_FUNCTIONS = names_with(TABLE_FUNCTIONS, Ruling.ALLOWED, Ruling.BOUNDED)
