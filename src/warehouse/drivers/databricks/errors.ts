import type { ErrorRules } from '../../warehouse-error.ts';

/** By the code of the API and the class of the engine's error, `PARSE: [PARSE_SYNTAX_ERROR] …`. */
export function databricksErrors(server: string): ErrorRules {
  return [
    [/\[(?:PARSE_|SYNTAX_)/, 'sql_syntax', 'Databricks'],
    [
      /\[(?:TABLE_OR_VIEW_NOT_FOUND|UNRESOLVED_(?:COLUMN|ROUTINE|FIELD)|SCHEMA_NOT_FOUND|FIELD_NOT_FOUND|ROUTINE_NOT_FOUND)/,
      'missing_object',
      'Databricks',
    ],
    [/\[NO_SUCH_CATALOG/, 'warehouse_not_found', server],
    [
      /\[INSUFFICIENT_PERMISSIONS|^PERMISSION_DENIED:|\[UNAUTHORIZED_ACCESS/,
      'warehouse_privilege',
      'The login lacks a privilege',
    ],
    [/^CANCELED:/, 'query_cancelled', 'The query was cancelled on the server'],
    [
      /\[QUERY_EXECUTION_TIMEOUT|STATEMENT_TIMEOUT/,
      'query_timeout',
      'The server ended the query at its time limit',
    ],
    [
      /OutOfMemory|out of memory|\[MEMORY/i,
      'out_of_memory',
      'The query needs more memory than it may take',
    ],
    [
      /^(?:TEMPORARILY_UNAVAILABLE|WORKSPACE_TEMPORARILY_UNAVAILABLE|SERVICE_UNDER_MAINTENANCE|DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED|IO_ERROR):/,
      'warehouse_unreachable',
      `${server} takes no statements now`,
    ],
    [/^[A-Z][A-Z_]+:/, 'query_failed', 'Databricks could not run the query'],
    [/^/, 'query_failed', `${server} does not answer like Databricks`],
  ];
}
