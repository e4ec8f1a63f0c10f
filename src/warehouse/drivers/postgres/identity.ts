import type { PoolClient } from 'pg';
import type { OpenContext } from '../../driver.ts';
import { identityRefused, type StatementIdentity } from '../../identity/statement-identity.ts';
import type { SessionSetting } from '../../postgres-wire/transactions.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { PostgresConfig } from './config.ts';

/** The setting that gives a transaction its identity, and ends with it. */
export function identitySetting(
  { identity: config }: Pick<PostgresConfig, 'identity'>,
  identity: StatementIdentity | undefined,
): SessionSetting | undefined {
  if (identity === undefined) return undefined;
  const refused = identityRefused;
  if (identity.kind === 'role') return { name: 'role', value: identity.role, refused };
  if (config?.mode !== 'session' || identity.kind !== 'person')
    throw new Error('no setting for the person is configured');
  return { name: config.setting, value: identity.person, refused };
}

/** Row security holds for neither of these. */
const bypassSql = `SELECT CASE WHEN rolsuper THEN 'it is a superuser' WHEN rolbypassrls THEN 'it has BYPASSRLS'
    ELSE (SELECT 'it owns ' || min(relname) || ', which has no FORCE ROW LEVEL SECURITY' FROM pg_class
      WHERE relrowsecurity AND NOT relforcerowsecurity AND pg_has_role(relowner, 'USAGE')) END AS why
  FROM pg_roles WHERE rolname = current_user`;

/** Throws if row security does not bind the login although callers rely on it. */
export async function requireRowSecurity(
  client: PoolClient,
  { identity }: Pick<PostgresConfig, 'identity'>,
  { connection }: Pick<OpenContext, 'connection'>,
): Promise<void> {
  if (identity?.mode !== 'session') return;
  const { rows } = await client.query<{ why: string | null }>(bypassSql);
  const why = rows[0]?.why;
  if (why === null) return;
  throw warehouseError(
    'warehouse_privilege',
    `Row security does not hold for the login of connection "${connection}": ${why ?? 'it is unknown'}.`,
    { hint: 'Use a login that owns no table and has only SELECT, or identity.mode: role.' },
  );
}
