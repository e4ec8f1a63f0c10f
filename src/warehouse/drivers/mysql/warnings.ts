import type { RunCatalogQuery } from '../../table-schemas.ts';
import { warehouseError } from '../../warehouse-error.ts';

/** MariaDB ends a recursion at its limit and reports success; MySQL fails. */
const recursionStopped = 1931;

/**
 * The server's warnings about the last statement of the connection. Throws `query_failed` if the
 * server stopped a recursion and so left out rows.
 */
export async function readWarnings(query: RunCatalogQuery): Promise<readonly string[]> {
  const rows = (await query('SHOW WARNINGS')) as { Level: string; Code: number; Message: string }[];
  const stopped = rows.find(({ Code: code }) => code === recursionStopped);
  if (stopped !== undefined)
    throw warehouseError('query_failed', `The result would be incomplete: ${stopped.Message}.`, {
      hint: 'Give the recursive part of WITH a condition that ends it earlier.',
    });
  return rows.flatMap(({ Level: level, Message: message }) => (level === 'Note' ? [] : message));
}
