import type { Dialect } from '../../sql/dialect.ts';
import type { GatePolicy } from './policy.ts';

/**
 * Name resolution for engines with catalogs that ignore letter case: a name without a catalog means
 * a table of the connection's own one and, without a schema, of the default one.
 */
export function resolveInCatalog(
  { defaultSchema }: Dialect,
  ownCatalog: string,
): GatePolicy['resolvesTo'] {
  return ({ catalog = ownCatalog, schema = defaultSchema, table: name }, table) =>
    isSameName(catalog, table.catalog ?? ownCatalog) &&
    isSameName(schema, table.schema) &&
    isSameName(name, table.table);
}

function isSameName(first: string, second: string): boolean {
  return first.toLowerCase() === second.toLowerCase();
}
