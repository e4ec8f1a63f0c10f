import { nearest } from '../lib/suggest.ts';
import type { TableRef } from '../sql/dialect.ts';
import { drivers } from './config.ts';
import type { GatePolicy, WrittenTable } from './driver.ts';
import { failure, refused } from './failure.ts';

/** Engines bind and plan a statement before its time limit can stop them. */
const longest = 100_000;

/**
 * Wall 2: `check` resolves where a statement only reads tables of the catalog; else it throws
 * `statement_too_long`, `gate_refused`, `sql_syntax` or `missing_object` (a plain name that the catalog does not have) with the rule in its details.
 * `tables` is asked again where a name is unknown: a table may have been made since.
 */
export function gateOf(
  policy: GatePolicy,
  allowed: readonly string[],
  tables: (fresh: boolean) => Promise<readonly TableRef[]>,
) {
  const functions = new Set([...policy.functions, ...allowed.map((name) => name.toLowerCase())]);
  const missingFrom = (known: readonly TableRef[]) => (written: WrittenTable) =>
    !known.some((table) => policy.means(written, table));
  return {
    /** The tables that it reads. */
    async check(sql: string): Promise<readonly TableRef[]> {
      if (sql.length > longest)
        throw failure(
          'statement_too_long',
          `Not sent: the statement has ${sql.length} characters, and at most ${longest} are taken.`,
        );
      if (sql.includes('\0')) throw refused('parse', 'a NUL character in the text.');
      const facts = await policy.inspect(sql);
      const called = facts.functions.find((name) => !functions.has(name));
      if (called !== undefined) throw refusedFunction(called, functions);
      if (facts.tables.length === 0) return [];
      const first = await tables(false);
      const known = facts.tables.some(missingFrom(first)) ? await tables(true) : first;
      const missing = facts.tables.find(missingFrom(known));
      if (missing !== undefined) throw refusedTable(missing, known);
      return known.filter((table) => facts.tables.some((written) => policy.means(written, table)));
    },
  };
}

function refusedFunction(name: string, known: ReadonlySet<string>) {
  const next = 'If it only computes, list it under allow_functions of the connection in ktx.yaml.';
  return refused(
    'function',
    `the function ${name} is not on the list of those that only compute.`,
    `${meant(name, known)}${next}`,
  );
}

/** True for a name that any driver reserves for the system, whichever driver the connection has. */
function isSystemName(name: string): boolean {
  return drivers.some(({ systemNames }) => systemNames.test(name));
}

function refusedTable({ catalog, schema, table }: WrittenTable, known: readonly TableRef[]) {
  const name = [catalog, schema, table].filter((part) => part !== undefined).join('.');
  const names = known.map((candidate) => candidate.table);
  const next = '`ktx search` lists the tables; check the schemas of the connection.';
  const [reason, hint] = [
    `the table ${name} is not in the catalog of this connection.`,
    `${meant(table, names)}${next}`,
  ];
  const isPlain =
    catalog === undefined &&
    [schema ?? table, table].every((part) => /^[a-z_]\w*$/i.test(part) && !isSystemName(part));
  return isPlain
    ? failure('missing_object', `Not sent: ${reason}`, { hint, details: { rule: 'table' } })
    : refused('table', reason, hint);
}

function meant(name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return near.length > 0 ? `Did you mean ${near.join(', ')}? ` : '';
}
