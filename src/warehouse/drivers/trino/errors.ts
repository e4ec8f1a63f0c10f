import type { ErrorRules } from '../../warehouse-error.ts';

/** By the names of the server's errors, which `code` has. */
export function trinoErrors(server: string): ErrorRules {
  return [
    [/^READ_ONLY_VIOLATION:/, 'gate_refused', ''],
    [/^SYNTAX_ERROR:/, 'sql_syntax', 'Trino'],
    [/^CATALOG_NOT_FOUND:/, 'warehouse_not_found', server],
    [
      /^(?:TABLE|COLUMN|SCHEMA|FUNCTION|TYPE)_NOT_FOUND:|^MISSING_(?:SCHEMA|CATALOG|COLUMN)_NAME:/,
      'missing_object',
      'Trino',
    ],
    [/^PERMISSION_DENIED:/, 'warehouse_privilege', 'The login lacks a privilege'],
    [/^INVALID_SESSION_PROPERTY:/, 'warehouse_privilege', 'The server does not take a limit'],
    [/^EXCEEDED_TIME_LIMIT:/, 'query_timeout', 'The server ended the query at its time limit'],
    [
      /^(?:USER_CANCELED|ADMINISTRATIVELY_(?:KILLED|PREEMPTED)|ABANDONED_QUERY):/,
      'query_cancelled',
      'The server ended the query',
    ],
    [
      /^(?:EXCEEDED_(?:LOCAL_|GLOBAL_)?MEMORY_LIMIT|CLUSTER_OUT_OF_MEMORY|EXCEEDED_SPILL_LIMIT):/,
      'out_of_memory',
      'The query needs more memory than it may take',
    ],
    [
      /^EXCEEDED_(?:SCAN|CPU)_LIMIT:/,
      'too_expensive',
      'The query would read or compute more than it may',
    ],
    [/^QUERY_TEXT_TOO_LARGE:/, 'statement_too_long', 'Trino'],
    [
      /^(?:QUERY_QUEUE_FULL|QUERY_REJECTED|SERVER_STARTING_UP|SERVER_SHUTTING_DOWN|NO_NODES_AVAILABLE|CLUSTER_HAS_TOO_MANY_RUNNING_TASKS):/,
      'warehouse_unreachable',
      `${server} takes no statements now`,
    ],
    [/^(?:TRANSACTION_ALREADY_ABORTED|UNKNOWN_TRANSACTION):/, 'query_failed', server],
    [/^[A-Z][A-Z_]+:/, 'query_failed', 'Trino could not run the query'],
    [/^/, 'query_failed', `${server} does not answer like Trino`],
  ];
}
