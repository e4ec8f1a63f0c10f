/**
 * Settings that make results the same on every machine: the time zone of a session changes what
 * queries return, and the optimizer `common_subplan` of DuckDB 1.5 merges two parts of a query that
 * read different columns.
 */
const sameAnswers = [
  "SET GLOBAL TimeZone = 'UTC'",
  "SET GLOBAL disabled_optimizers = 'common_subplan'",
];
/** After the last one no statement can change a setting. */
export const lockSettings = [...sameAnswers, 'SET GLOBAL lock_configuration = true'];

export const readOnlyOptions = {
  access_mode: 'READ_ONLY',
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
};
