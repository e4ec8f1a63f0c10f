import type { ErrorRules } from '../../warehouse-error.ts';

/** By the numbers of Snowflake's errors, and `http-<status>` for an answer without one. */
export function snowflakeErrors(server: string): ErrorRules {
  return [
    [/^39018[69]:/, 'warehouse_privilege', 'The user does not have the role'],
    [/^(?:390201|000606|000607|002041):/, 'warehouse_not_found', 'Snowflake'],
    [/^(?:39[045]\d{3}|http-40[13]):/, 'warehouse_auth', `${server} refused the login`],
    [/^(?:002003|002043|000904|001187|002027|002140|002141):/, 'missing_object', 'Snowflake'],
    [/^(?:003001|003041|003540|002049):/, 'warehouse_privilege', 'The role lacks a privilege'],
    [/^(?:000604|000627):/, 'query_cancelled', 'The query was cancelled on the server'],
    [
      /^(?:000630|http-408|000631):/,
      'query_timeout',
      'The server ended the query at its time limit',
    ],
    [/^(?:000008|391911|391912|391917):/, 'gate_refused', ''],
    [/^(?:001003|000912):/, 'sql_syntax', 'Snowflake'],
    [
      /^(?:090073|000609|000640|000641):/,
      'too_expensive',
      'A limit of the account ended the query',
    ],
    [/^http-404:/, 'warehouse_not_found', `${server} has no such account or statement`],
    [/^\d{5,6}:/, 'query_failed', 'Snowflake could not run the query'],
  ];
}

/** An error with the code by which the rules know it. */
export function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message.replaceAll(/\s+/g, ' ').trim()), { code });
}
