import { readWordList } from '../lib/word-list.ts';

/**
 * Functions without side effects that a query's fragments may call. The warehouse's gate is the
 * second line of defence.
 */
export const scalarFunctions = readWordList(new URL('scalar-functions.txt', import.meta.url));

/** Words that are SQL syntax, not names. */
export const fragmentKeywords = readWordList(new URL('fragment-keywords.txt', import.meta.url));

/** Words that can be names only in quotes. */
export const reservedWords = readWordList(new URL('reserved-words.txt', import.meta.url)).union(
  fragmentKeywords,
);

/**
 * Functions with effects beyond the expression: on files, settings, sequences, other servers;
 * sleep; SQL in text.
 */
export const changingFunctions =
  /^(pg_|lo_|dblink|nextval$|setval$|currval$|lastval$|set_config$|current_setting$|load_extension$|readfile$|writefile$|edit$|fts\d|read_|parquet_|sniff_|glob$|getenv$|getvariable$|query|cursor_to_|table_to_|schema_to_|database_to_|xpath_table|sqlite_|postgres_|mysql_|duckdb_|sleep$|inet_)/;
