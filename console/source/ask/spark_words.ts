/** Words of Spark's SQL, as the editor colours and completes them. */

export const KEYWORDS =
  "all and anti any array as asc between by case cast cross cube current_date current_timestamp desc distinct " +
  "else end escape except exists explain extract false filter first following for from full group grouping having " +
  "ilike in inner intersect interval is join last lateral left like limit minus natural not null nulls of offset on " +
  "or order outer over partition percent pivot preceding qualify range recursive regexp right rlike rollup row rows " +
  "select semi sets some struct system_time table tablesample then timestamp to trailing true try_cast unbounded union " +
  "unknown unpivot using values version view when where window with within";

export const TYPES =
  "bigint binary boolean byte char date decimal double float int integer long map numeric real short smallint " +
  "string timestamp_ltz timestamp_ntz tinyint varchar variant";
