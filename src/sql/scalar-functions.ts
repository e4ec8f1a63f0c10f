import { readWordList } from '../lib/word-list.ts';

/** Functions without side effects that a fragment of a query may call; the walls of the warehouse stand behind this list. */
export const scalarFunctions = readWordList(new URL('scalar-functions.txt', import.meta.url));

/** Words that are grammar rather than names. */
export const fragmentKeywords = readWordList(new URL('fragment-keywords.txt', import.meta.url));

/** Words that are no names without quotes, here or where a statement goes on. */
export const reservedWords = readWordList(new URL('reserved-words.txt', import.meta.url)).union(
  fragmentKeywords,
);

/** Functions that reach beyond the expression: files, settings, sequences, sleep, other servers, SQL in text. */
export const changingFunctions =
  /^(pg_|lo_|dblink|nextval$|setval$|currval$|lastval$|set_config$|current_setting$|load_extension$|readfile$|writefile$|edit$|fts\d|read_|parquet_|sniff_|glob$|getenv$|getvariable$|query|cursor_to_|table_to_|schema_to_|database_to_|xpath_table|sqlite_|postgres_|mysql_|duckdb_|sleep$|inet_)/;
