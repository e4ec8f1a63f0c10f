import { identityRefused, type StatementIdentity } from '../../identity/statement-identity.ts';

/** The headers that give a statement its identity; none for the login of the connection. */
export function identityHeaders(
  identity: StatementIdentity | undefined,
): Readonly<Record<string, string>> {
  if (identity === undefined) return {};
  if (identity.kind === 'role')
    return { 'x-trino-role': `system=${encodeURIComponent(`ROLE{${identity.role}}`)}` };
  if (identity.kind !== 'person') throw new Error('Trino is given no token of a person');
  // Headers take no other characters, and a server that guesses could take one person for another.
  if (!/^[\x21-\x7e]+$/.test(identity.person))
    throw identityRefused('the name has characters that cannot be sent to Trino.');
  return { 'x-trino-user': identity.person };
}
