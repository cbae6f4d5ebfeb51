"""Which features a gateway has: what SQLAlchemy's suite may test, and why it leaves out the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

HAS = """
    aggregate_order_by array_type boolean_col_expressions comment_reflection
    comment_reflection_full_unicode create_or_replace_view create_table_as ctes
    ctes_with_update_delete ctes_with_values date_historic datetime_historic
    datetime_literals datetime_timezone datetime_timezone_historic except_ fetch_expression fetch_first
    fetch_no_order_by float_or_double_precision_behaves_generically
    foreign_key_ddl implicit_default_schema intersect isolation_level
    mod_operator_as_percent_sign nullsordering nvarchar_types order_by_label_with_expression
    percent_schema_names precision_numerics_enotation_small
    precision_numerics_many_significant_digits precision_numerics_retains_significant_digits
    reflect_table_options regexp_match regexp_replace schema_create_delete
    supports_bitwise_and supports_bitwise_not supports_bitwise_or supports_bitwise_shift
    supports_bitwise_xor table_ddl_if_exists table_value_constructor timestamp_microseconds tuple_in
    unicode_ddl uuid_data_type view_column_reflection view_reflection views window_functions
    window_range window_range_numeric
"""
"""Beside what SQLAlchemy expects of each dialect."""

LACKS: Mapping[str, str] = {
    "tables have no keys, foreign keys or checks": """
        check_constraint_reflection constraint_comment_reflection cross_schema_fk_reflection deferrable_fks
        duplicate_key_raises_integrity_error
        fk_constraint_option_reflection_ondelete_noaction fk_constraint_option_reflection_ondelete_restrict
        fk_constraint_option_reflection_onupdate_restrict foreign_key_constraint_name_reflection
        foreign_key_constraint_option_reflection_ondelete foreign_key_constraint_option_reflection_onupdate
        foreign_key_constraint_reflection foreign_keys foreign_keys_reflect_as_index
        implicitly_named_constraints inline_check_constraint_reflection named_constraints
        non_updating_cascade on_update_cascade on_update_or_deferrable_fks
        primary_key_constraint_reflection recursive_fk_cascade reflects_pk_names
        repeated_column_foreign_keys repeated_remote_col_foreign_keys self_referential_foreign_keys
        unique_constraint_reflection unique_constraints_reflect_as_index
        unique_index_reflect_as_unique_constraints
    """,
    "tables have no indexes": """
        index_ddl_if_exists index_reflection index_reflects_included_columns indexes_check_column_order
        indexes_with_ascdesc indexes_with_expressions reflect_indexes_with_ascdesc
        reflect_indexes_with_ascdesc_as_expression reflect_indexes_with_expressions temp_table_reflect_indexes
    """,
    "tables count no keys": """
        autoincrement_insert autoincrement_without_sequence dbapi_lastrowid emulated_lastrowid
        emulated_lastrowid_even_with_sequences identity_columns identity_columns_standard
        implements_get_lastrowid sequences sequences_optional supports_lastrowid
    """,
    "tables have no computed columns": """
        computed_columns computed_columns_default_persisted computed_columns_reflect_persisted
        computed_columns_stored computed_columns_virtual
    """,
    "Iceberg's tables take no default values from Spark": "expression_server_defaults server_defaults",
    "a parameter is a finite number": "infinity_floats",
    "an interval that bounds a window is no parameter": "window_range_non_numeric",
    "tables of Iceberg have no intervals": "datetime_interval",
    "a table has at least one column": "reflect_tables_no_columns",
    "there are no transactions": """
        autocommit savepoints skip_autocommit_rollback two_phase_transactions
    """,
    "there are no temporary tables": """
        create_temp_table_as has_temp_table temp_table_comment_reflection temp_table_names
        temp_table_reflection temporary_tables temporary_views
    """,
    "there are no materialized views": "materialized_views materialized_views_reflect_pk",
    "a write returns no rows": """
        delete_returning fetch_rows_post_commit insert_executemany_returning insert_returning
        insertmanyvalues sane_rowcount_w_returning update_returning
    """,
    "the number of changed rows is not always known": "sane_multi_rowcount sane_rowcount",
    "an INSERT names its values": "empty_inserts empty_inserts_executemany",
    "a CTE only reads": "ctes_on_dml",
    "an UPDATE or DELETE has one table": "delete_from update_from",
    "Spark has no TIME": "time time_implicit_bound time_microseconds time_timezone",
    "Spark has no JSON": """
        json_array_indexes json_deserializer_binary json_type legacy_unconditional_json_extract
    """,
    "columns of Iceberg have no collations": "column_collation_reflection order_by_collation",
    "Spark has no FETCH with ties or a percentage": "fetch_offset_with_options fetch_percent fetch_ties",
    "Spark has no DISTINCT ON": "supports_distinct_on",
    "a session's schema is changed by USE alone": "default_schema_name_switch",
    "names are not changed to upper case": "denormalized_names",
    "results are read in parts without a cursor at the server": "server_side_cursors",
    "the dialect is not asynchronous": "async_dialect",
}


class Requirements(SuiteRequirements):
    """Features that are not named here are as SQLAlchemy expects them of each dialect."""


def _choose(names: str, make: Callable[[], Any]) -> None:
    for name in names.split():
        assert hasattr(SuiteRequirements, name), name
        setattr(Requirements, name, property(lambda _: make()))


def _lacking(reason: str) -> Callable[[], Any]:
    predicates: Any = exclusions
    return lambda: predicates.skip_if(predicates.BooleanPredicate(True, reason))


_choose(HAS, exclusions.open)
for why, missing in LACKS.items():
    _choose(missing, _lacking(why))
