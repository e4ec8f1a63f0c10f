import type { ErrorRules } from '../../warehouse-error.ts';

/** By the numbers of the server's errors, and the codes of the library. */
export function sqlserverErrors(server: string): ErrorRules {
  return [
    [/Cannot open database/i, 'warehouse_not_found', server],
    [/^(?:18\d{3}|ELOGIN|EFEDAUTH):/, 'warehouse_auth', `${server} refused the login`],
    [/^40615:|not allowed to access the server/i, 'warehouse_unreachable', server],
    [/^EENCRYPT:/, 'warehouse_insecure', `${server} offers no encrypted connection`],
    [
      /certificate|self.signed|ERR_TLS|CERT_|altname/i,
      'warehouse_insecure',
      `The certificate of ${server} cannot be verified`,
    ],
    [/^(?:102|103|105|132|156|170|174|319|1018|1033|8116):/, 'sql_syntax', 'SQL Server'],
    [/^(?:195|207|208|209|2812|4104|4121):/, 'missing_object', 'SQL Server'],
    [
      /^(?:229|230|262|297|300|371|916|15247):/,
      'warehouse_privilege',
      'The login lacks a privilege',
    ],
    [/^(?:1222|3617):/, 'query_timeout', 'The server ended the query'],
    [/^(?:701|802|8645|8657):/, 'out_of_memory', 'The query needs more memory than it may take'],
    [/^(?:3906|3908|3930):/, 'gate_refused', ''],
    [
      /^(?:4019\d|4050\d|4061\d|4991\d|1092\d|617|927|5[0-9]{3}|E(?!REQUEST|CANCEL)[A-Z_]+):/,
      'warehouse_unreachable',
      `${server} cannot be reached`,
    ],
    [/^(?:\d+|EREQUEST|ECANCEL):/, 'query_failed', 'SQL Server could not run the query'],
    [/^/, 'query_failed', `${server} does not answer like SQL Server`],
  ];
}
