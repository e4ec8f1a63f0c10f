import { nearest } from '../lib/suggest.ts';
import type { TableRef } from '../sql/dialect.ts';
import type { GatePolicy, WrittenTable } from './driver.ts';
import { refused } from './failure.ts';

export interface Gate {
  /** Resolves where the statement only reads tables of the catalog; else throws `gate_refused` with the rule in its details. */
  check(sql: string): Promise<void>;
}

/** Wall 2. `tables` is asked again where a name is unknown: a table may have been made since. */
export function gateOf(policy: GatePolicy, allowed: readonly string[], tables: (fresh: boolean) => Promise<readonly TableRef[]>): Gate {
  const extra = new Set(allowed.map((name) => name.toLowerCase()));
  return {
    async check(sql) {
      if (sql.includes('\0')) throw refused('parse', 'a NUL character in the text.');
      const facts = await policy.inspect(sql);
      for (const name of facts.functions) {
        if (!policy.functions.has(name) && !extra.has(name)) throw refusedFunction(name, policy);
      }
      if (facts.tables.length === 0) return;
      const known = await tables(false);
      const unknown = facts.tables.filter((written) => !isKnown(written, known, policy));
      if (unknown.length === 0) return;
      const fresh = await tables(true);
      const missing = unknown.find((written) => !isKnown(written, fresh, policy));
      if (missing !== undefined) throw refusedTable(missing, fresh);
    },
  };
}

function isKnown(written: WrittenTable, tables: readonly TableRef[], policy: GatePolicy): boolean {
  return tables.some((table) => policy.means(written, table));
}

function refusedFunction(name: string, policy: GatePolicy) {
  const near = nearest(name, policy.functions);
  const meant = near.length > 0 ? `Did you mean ${near.join(', ')}? ` : '';
  return refused(
    'function',
    `the function ${name} is not on the list of those that only compute.`,
    `${meant}If it only computes, list it under allow_functions of the connection in ktx.yaml.`,
  );
}

function refusedTable(written: WrittenTable, tables: readonly TableRef[]) {
  const name = [written.catalog, written.schema, written.table].filter((part) => part !== undefined).join('.');
  const near = nearest(
    written.table,
    tables.map(({ table }) => table),
  );
  const meant = near.length > 0 ? `Did you mean ${near.join(', ')}? ` : '';
  return refused(
    'table',
    `the table ${name} is not in the catalog of this connection.`,
    `${meant}\`ktx search\` lists the tables; check the schemas of the connection.`,
  );
}
