"""Parts of the lines that the steps of `JdbcSteps.java` print, by the step's name."""

from __future__ import annotations

_EVERYWHERE: dict[str, str] = {
    "quote": "`",
    "catalogs": "[lake]",
    "schemas": "[shop, lake][shop_archive, lake]",
    "types of tables": "[TABLE][VIEW]",
    "tables": "[lake, shop, sales, TABLE, ",
    "columns": "[lake, shop, sales, amount, 3, DECIMAL(7,2), 7, null, 2, 10, 1, , ",
    "columns of every type": "[id, 4, INT, 1][a_boolean, 16, BOOLEAN, 2][a_long, -5, BIGINT, 3]"
    "[a_float, 6, FLOAT, 4][a_double, 8, DOUBLE, 5][a_decimal, 3, DECIMAL(38,10), 6][a_date, 91, DATE, 7]"
    "[a_timestamp, 93, TIMESTAMP_NTZ, 8][a_timestamptz, 93, TIMESTAMP, 9][a_string, 12, STRING, 10]",
    "columns by patterns": "[day_key, 4, INT, 1][day_name, 12, STRING, 3]",
    "escaped pattern": "[lake, shop_archive, sales_2019, TABLE, ",
    "no tables": "",
    "primary keys": "",
    "imported keys": "",
    "valid": "true",
    "select": "[1, 10][2, 10][3, 10][4, 10]",
    "scalars": "[1, 2, 3, 4, 1.5, 2.5, 1.50, true, a, 2000-01-02, ",
    "moments": "[2024-07-01 12:00:00.0, 2024-07-01 12:00:00.0]",
    "prepared": "[9]",
    "prepared date": "[1]",
    "prepared values": "[4611686018427387904, 0.1, -1.50, true, it's é, ? -- \" `, a ?]",
    "prepared moment": "[2024-07-01 12:00:00.5]",
    "prepared null": "[7]",
    "prepared again": "[10][0]",
    "large": "300000 44999850000 14850000",
    "small fetches": "100 4950 100",
    "two results": "0 10 1 11 2 12",
    "no rows": "",
    "most rows": "[0][0]",
    "show": "[shop, sales, false]",
    "use": "[shop_archive]",
    "update": "[9]",
    "afterwards": "[1]",
    "close": "true",
}
_REFUSED: dict[str, str] = {
    "error": "COLUMN_NOT_FOUND",
    "cancel": "",
    "closed": "",
    "timeout": "imed out after 3 ",
    "wrong password": "",
    "wrong name": "",
}
FLIGHT: dict[str, str] = _EVERYWHERE | {
    "product": "Sluice",
    "read only": "true",
    "exported keys": "",
    "every type": "[a_boolean, 16, 0, 0, Boolean true][a_byte, -6, 0, 0, Byte -128]"
    "[a_short, 5, 0, 0, Short -32768][an_int, 4, 0, 0, Integer -2147483648]"
    "[a_long, -5, 0, 0, Long 9223372036854775807][a_float, 6, 0, 0, Double 1.5]"
    "[a_double, 8, 0, 0, Double 2.5]"
    "[a_decimal, 3, 38, 9, BigDecimal -99999999999999999999999999999.999999999]"
    "[a_date, 91, 0, 0, Date 1582-10-15][a_moment, 93, 0, 0, Timestamp 2024-07-01 12:00:00.123456]"
    "[a_text, 12, 0, 0, String it's é 😀][a_binary, -3, 0, 0, byte[] [0, -1]][a_char, 12, 0, 0, String ab]"
    '[a_list, 2003, 0, 0, ArrowFlightJdbcArray [1,null]][a_map, 2000, 0, 0, JsonStringHashMap {"k":1.5}]'
    '[a_struct, 2000, 0, 0, JsonStringHashMap {"x":1}]',
    "no values": "[a, 16, 0, 0, null null null][b, -6, 0, 0, null null null]",
    "prepared backslash": "[5]",
    # The driver sends nothing: statements say `USE`.
    "schema": "[shop]",
}
FLIGHT_REFUSED = _REFUSED | {
    "insert": "",
    "wrong password": "UNAUTHENTICATED",
    "wrong name": "UNAUTHENTICATED",
}
HIVE: dict[str, str] = _EVERYWHERE | {
    "product": "Spark SQL",
    "types": "[DECIMAL, 3, 38, ",
    "every type": "[a_boolean, 16, 1, 0, Boolean true][a_byte, -6, 3, 0, Byte -128]"
    "[a_short, 5, 5, 0, Short -32768][an_int, 4, 10, 0, Integer -2147483648]"
    "[a_long, -5, 19, 0, Long 9223372036854775807][a_float, 6, 7, 7, Double 1.5]"
    "[a_double, 8, 15, 15, Double 2.5]"
    "[a_decimal, 3, 38, 9, BigDecimal -99999999999999999999999999999.999999999]"
    "[a_date, 91, 10, 0, Date 1582-10-15][a_moment, 93, 29, 9, Timestamp 2024-07-01 12:00:00.123456]"
    "[a_text, 12, 2147483647, 0, String it's é 😀][a_binary, -2, 2147483647, 0, byte[] [0, -1]]"
    "[a_char, 12, 2147483647, 0, String ab][a_list, 2003, 2147483647, 0, String [1,null]]"
    '[a_map, 2000, 2147483647, 0, String {"k":1.5}][a_struct, 2002, 2147483647, 0, String {"x":1}]',
    "no values": "[a, 16, 1, 0, null null null][b, -6, 3, 0, null null null]",
    # The driver pastes the text between quotes, and a backslash begins an escape there.
    "prepared backslash": "[4]",
    "schema": "[shop_archive]",
}
HIVE_REFUSED = _REFUSED | {
    "error": "42S22 java.sql.SQLException: COLUMN_NOT_FOUND",
    "cancel": "QUERY_CANCELED",
    # The driver does not know them.
    "read only": "",
    "exported keys": "",
}
