import type { ErrorRules } from '../warehouse-error.ts';

/**
 * Matches the SQLSTATE, or the library's own code or message. `place` is host, port and database,
 * never a secret.
 */
export function serverErrors(title: string, place: string): ErrorRules {
  const server = `${title} at ${place}`;
  return [
    [
      /password must be a string|no password supplied/,
      'warehouse_auth',
      `${server} asks for a password, but none is configured`,
    ],
    [/^28|SASL|Tenant or user not found/, 'warehouse_auth', `${server} refused the login`],
    [/^3D000/, 'warehouse_not_found', server],
    [/^42501/, 'warehouse_privilege', 'The login lacks a privilege'],
    [/^(42P01|42703|42883|3F000)/, 'missing_object', title],
    [/^57014/, 'query_timeout', 'The server cancelled the query at its time limit'],
    [/^25006/, 'gate_refused', ''],
    [/^(E[A-Z_]+|08...|57P0[1-3]|53300|):/, 'warehouse_unreachable', `${server} cannot be reached`],
    [/^/, 'query_failed', `${title} could not run the query`],
  ];
}
