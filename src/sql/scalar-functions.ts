/** Functions without side effects that a fragment of a query may call; the walls of the warehouse stand behind this list. */
export const scalarFunctions: ReadonlySet<string> = new Set(
  `abs ceil ceiling floor round trunc sign mod power pow sqrt exp ln log log10 log2 greatest least coalesce nullif ifnull iif if
   lower upper trim ltrim rtrim length char_length substring substr replace left right concat concat_ws position strpos instr
   starts_with ends_with contains split_part reverse date_trunc date_part extract date_diff datediff date_add date_sub age
   strftime date time datetime julianday to_char to_date to_timestamp make_date year month day hour minute second quarter week
   dayofweek dayofyear now regexp_matches regexp_like cast try_cast`.split(/\s+/),
);

/** Words that are grammar rather than names. */
export const fragmentKeywords: ReadonlySet<string> = new Set(
  `and or not in is null like ilike escape between case when then else end true false cast try_cast as distinct interval extract
   from for both leading trailing symmetric unknown current_date current_timestamp current_time localtimestamp at time zone with
   without date timestamp timestamptz integer int bigint smallint decimal numeric real double precision float text varchar char
   character varying boolean bool year quarter month week day hour minute second years months weeks days hours minutes seconds
   epoch dow doy isodow isoyear`.split(/\s+/),
);

/** Functions that reach beyond the expression: files, settings, sequences, sleep, other servers, SQL in text. */
export const changingFunctions =
  /^(pg_|lo_|dblink|nextval$|setval$|currval$|lastval$|set_config$|current_setting$|load_extension$|readfile$|writefile$|edit$|fts\d|read_|parquet_|sniff_|glob$|getenv$|getvariable$|query|cursor_to_|table_to_|schema_to_|database_to_|xpath_table|sqlite_|postgres_|mysql_|duckdb_|sleep$|inet_)/;
