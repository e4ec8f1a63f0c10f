interface Refusal {
  readonly pattern: RegExp;
  readonly code: string;
  message(found: string): string;
}

/** What Redshift's documentation lists as not supported, and what it names in no place. */
const refusals: readonly Refusal[] = [
  {
    pattern:
      /\b(?:array_agg|string_agg|json_agg|jsonb?_\w+|to_jsonb?|row_to_json|xmlagg|every|corr|covar_pop|covar_samp|generate_series|generate_subscripts|unnest|string_to_array|concat_ws|format|to_regclass|clock_timestamp|justify_\w+|pg_sleep|overlay|convert_from|regexp_matches|pg_stat_get_\w+)(?= *\()/i,
    code: '42883',
    message: (name) => `function ${name.toLowerCase()}() does not exist`,
  },
  {
    pattern:
      /\bFILTER *\(|\bLATERAL\b|\bTABLESAMPLE\b|\bDISTINCT ON\b|\bWITH ORDINALITY\b|\[\d*:\d*\]/i,
    code: '42601',
    message: (text) => `syntax error at or near "${text}"`,
  },
  {
    pattern: /\bIS (?:NOT )?DISTINCT FROM\b/i,
    code: '0A000',
    message: () => 'IS DISTINCT FROM is not supported',
  },
  {
    pattern:
      /\bSET (?:LOCAL )?(?:client_connection_check_interval|IntervalStyle|bytea_output|standard_conforming_strings|transform_null_equals|default_transaction_read_only)\b/i,
    code: '42704',
    message: (text) => `unrecognized configuration parameter "${text.split(' ').at(-1) ?? ''}"`,
  },
];

/**
 * A statement of Redshift as Postgres runs it. One that Redshift would refuse becomes one that
 * fails with Redshift's error.
 */
export function rewriteForPostgres(sql: string): string {
  const withoutLiterals = sql.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\/\*[^]*?\*\//g, "''");
  for (const refusal of refusals) {
    const found = refusal.pattern.exec(withoutLiterals)?.[0];
    if (found === undefined) continue;
    const text = refusal.message(found).replaceAll("'", "''");
    return `SELECT pg_catalog.refuse_like_redshift('${refusal.code}', '${text}')`;
  }
  return (
    sql
      // A setting that Postgres does not know needs a dot in its name.
      .replaceAll(/\bSET (LOCAL |)query_group TO\b/gi, 'SET $1redshift.query_group TO')
      .replaceAll(/\b(DATEADD|DATEDIFF)\((\w+),/gi, "$1('$2',")
      .replaceAll(/\bAPPROXIMATE COUNT\(/gi, 'COUNT(')
      .replaceAll(
        /\bLISTAGG\(([^()]+?), ('[^']*')\) WITHIN GROUP \(ORDER BY ([^()]+)\)/gi,
        'string_agg($1, $2 ORDER BY $3)',
      )
      .replaceAll(/\bGETDATE\(\)/gi, 'pg_catalog.getdate()')
  );
}
