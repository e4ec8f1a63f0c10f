import { sha256 } from '../../../lib/hash.ts';
import type { StatementIdentity } from '../../identity/statement-identity.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { StatementLogin } from './connection.ts';
import { foldName } from './names.ts';
import type { LoginRoles } from './privileges.ts';

/** Identities beyond these are checked again. */
const mostChecked = 1000;

/**
 * Finds how a statement is sent for a caller. `require` runs once for each identity, before its
 * first statement: it throws for one that could do more than it should.
 */
export function openStatementLogins(require: (login: StatementLogin) => Promise<void>) {
  const checked = new Map<string, Promise<void>>();
  return async (identity: StatementIdentity | undefined): Promise<StatementLogin | undefined> => {
    if (identity === undefined) return undefined;
    const login = loginOf(identity);
    const key = loginKey(login);
    if (checked.size > mostChecked) checked.clear();
    const check = checked.get(key) ?? require(login);
    checked.set(key, check);
    // A check that failed is made again.
    check.catch(() => checked.delete(key));
    await check;
    return login;
  };
}

/** Different for logins that may see different things. */
export function loginKey(login: StatementLogin | undefined): string {
  return sha256(JSON.stringify([login?.role, login?.headers?.['authorization']]));
}

/** Throws if the user has secondary roles: each role of a caller would have their rights too. */
export function requireNoSecondaryRoles({ secondary }: LoginRoles, connection: string): void {
  if (secondary.length === 0) return;
  throw warehouseError(
    'warehouse_privilege',
    `The user of connection "${connection}" has secondary roles, whose rights every role of a caller would have too.`,
    { hint: 'ALTER USER … SET DEFAULT_SECONDARY_ROLES = ();' },
  );
}

function loginOf(identity: StatementIdentity): StatementLogin {
  if (identity.kind === 'role') return { role: foldName(identity.role), headers: undefined };
  if (identity.kind === 'person') throw new Error('Snowflake is told of no person by name');
  const headers = {
    authorization: `Bearer ${identity.token}`,
    'x-snowflake-authorization-token-type': 'OAUTH',
  };
  return { role: undefined, headers };
}
