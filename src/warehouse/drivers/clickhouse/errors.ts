import type { ErrorRules } from '../../warehouse-error.ts';

/** The error that a server wrote into an answer that it had begun; undefined if it is none. */
export function exceptionIn(line: string): Error | undefined {
  const [, code, text = ''] = /Code: (\d+)\. ?DB::Exception: ?(.*)/s.exec(line) ?? [];
  return code === undefined ? undefined : Object.assign(new Error(text), { code });
}

/** By the numbers of the server's errors, which the library hands on as `code`. */
export function clickhouseErrors(server: string): ErrorRules {
  return [
    [/^(?:516|192|193|194):/, 'warehouse_auth', `${server} refused the login`],
    [/^81:/, 'warehouse_not_found', server],
    [/^497:/, 'warehouse_privilege', 'The login lacks a privilege'],
    [/^164:/, 'gate_refused', ''],
    [/^(?:60|47|46|8|10|16|36: .*column):/, 'missing_object', 'ClickHouse'],
    [/^(?:159|160|209):/, 'query_timeout', 'The server ended the query at its time limit'],
    [/^394:/, 'query_cancelled', 'The server ended the query'],
    [/^241:/, 'out_of_memory', 'The query needs more memory than it may take'],
    [/^(?:158|307):/, 'too_expensive', 'The query would read more than it may'],
    [/^62:/, 'sql_syntax', 'ClickHouse'],
    [/^(?:115|452):/, 'warehouse_privilege', 'The server does not take a setting that ktx needs'],
    [/^\d+:/, 'query_failed', 'ClickHouse could not run the query'],
    [
      /^(?:ERR_TLS|.*CERT|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_VERIFY|ERR_SSL|EPROTO)|self.signed|certificate/i,
      'warehouse_insecure',
      `The certificate of ${server} cannot be verified`,
    ],
    [
      /^(?:E[A-Z]{3,}|UND_|HPE_)|socket hang up|aborted/,
      'warehouse_unreachable',
      `${server} cannot be reached`,
    ],
    [/^/, 'query_failed', `${server} does not answer like ClickHouse`],
  ];
}
