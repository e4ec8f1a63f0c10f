import type { RunCatalogQuery } from '../../table-schemas.ts';
import { type UserObjects, userObjectsSql } from './database-objects.ts';

/**
 * What a transaction sees, as the server names it: while this is the same, nobody has committed
 * anything, so no object has come or changed. A standby names less than what it sees, so that it
 * gives null.
 */
const visibleSql = `SELECT CASE WHEN NOT pg_is_in_recovery()
  THEN txid_current_snapshot()::text || ' ' || current_schemas(true)::text END AS visible`;

type RunTransaction = <T>(work: (query: RunCatalogQuery) => Promise<T>) => Promise<T>;

/**
 * Returns a function that reads the user objects, and does not read them again while nothing has
 * been committed on the server: with ten thousand tables, reading takes longer than most
 * statements.
 */
export function userObjectsReader(run: RunTransaction): () => Promise<UserObjects> {
  let known: { readonly visible: string; readonly objects: UserObjects } | undefined;
  const readVisible = async (): Promise<string | null> => {
    const [row] = (await run((query) => query(visibleSql))) as [{ visible: string | null }];
    return row.visible;
  };
  return async () => {
    // A server that is like Postgres may lack the function. What else fails, fails again below.
    const visible = await readVisible().catch(() => null);
    if (visible !== null && known?.visible === visible) return known.objects;
    const [objects] = (await run((query) => query(userObjectsSql))) as [UserObjects];
    known = visible === null ? undefined : { visible, objects };
    return objects;
  };
}
