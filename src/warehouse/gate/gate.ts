import { nearest } from '../../lib/suggest.ts';
import type { DatePart, Dialect, TableRef } from '../../sql/dialect.ts';
import { drivers } from '../config.ts';
import { gateRefusal, warehouseError } from '../warehouse-error.ts';
import type { GatePolicy, UnresolvedTable } from './policy.ts';

/**
 * Engines bind and plan a statement before its time limit can stop them, so its length is limited
 * here.
 */
const maxStatementLength = 100_000;

interface GateOptions {
  readonly dialect: Dialect;
  /** Functions that the connection allows in addition to the policy's. */
  readonly allowedFunctions: readonly string[];
  /**
   * The tables of the catalog. `fresh` asks the database again: a table may have been created
   * since.
   */
  readonly loadTables: (fresh: boolean) => Promise<readonly TableRef[]>;
  /** True for a name that the connection is told to leave out, whether there is such a table. */
  readonly isLeftOut?: ((name: UnresolvedTable) => boolean) | undefined;
}

/**
 * Wall 2 of three: only statements that read tables of the catalog and call safe functions pass.
 */
export function createGate(
  policy: GatePolicy,
  { dialect, allowedFunctions, loadTables, isLeftOut }: GateOptions,
) {
  const safeFunctions = new Set([
    ...policy.safeFunctions,
    ...allowedFunctions.map((name) => name.toLowerCase()),
  ]);
  const resolve = (name: UnresolvedTable, tables: readonly TableRef[]) =>
    tablesNamed(tables, name.table).filter(({ table }) => policy.resolvesTo(name, table));
  const firstUnknown = (names: readonly UnresolvedTable[], tables: readonly TableRef[]) =>
    names.find((name) => resolve(name, tables).length === 0);
  /** A partition is read as a part of its table, so what holds for the table holds for it. */
  const withoutPartitions = (names: readonly UnresolvedTable[], tables: readonly TableRef[]) =>
    Promise.all(
      names.map(async (name) =>
        firstUnknown([name], tables) === undefined
          ? name
          : ((await policy.partitionedTable?.(name)) ?? name),
      ),
    );
  const tableError = (name: UnresolvedTable, tables: readonly TableRef[]) =>
    isLeftOut?.(name) === true ? leftOutError(name) : unknownTableError(name, tables);
  /** The tables of the catalog that these names mean. Throws for a name that means none. */
  const resolveTables = async (
    written: readonly UnresolvedTable[],
  ): Promise<readonly TableRef[]> => {
    if (written.length === 0) return [];
    let tables = await loadTables(false);
    if (firstUnknown(written, tables) !== undefined) tables = await loadTables(true);
    const names = await withoutPartitions(written, tables);
    const unknown = firstUnknown(names, tables);
    if (unknown !== undefined) throw tableError(unknown, tables);
    const found = new Set(names.flatMap((name) => resolve(name, tables)));
    return [...found].sort((a, b) => a.position - b.position).map(({ table }) => table);
  };
  return {
    /**
     * Returns the tables that the statement reads. Throws `statement_too_long`, `gate_refused`,
     * `sql_syntax`, or `missing_object` (a plain table name that is not in the catalog); the
     * details name the rule.
     */
    async check(sql: string): Promise<readonly TableRef[]> {
      checkText(sql);
      const facts = await policy.inspect(sql);
      const unsafe = facts.functions.find((name) => !safeFunctions.has(name));
      if (unsafe !== undefined) throw functionRefusal(unsafe, safeFunctions, dialect);
      return resolveTables(facts.tables);
    },
    resolveTables,
  };
}

interface PlacedTable {
  readonly table: TableRef;
  /** In the catalog. */
  readonly position: number;
}

const placedTables = new WeakMap<readonly TableRef[], ReadonlyMap<string, PlacedTable[]>>();

/**
 * The tables whose names equal this one but for letter case: no engine resolves a name to others.
 */
function tablesNamed(tables: readonly TableRef[], name: string): readonly PlacedTable[] {
  const known = placedTables.get(tables);
  const byName =
    known ??
    Map.groupBy(
      tables.map((table, position) => ({ table, position })),
      ({ table }) => table.table.toLowerCase(),
    );
  if (known === undefined) placedTables.set(tables, byName);
  return byName.get(name.toLowerCase()) ?? [];
}

function checkText(sql: string): void {
  if (sql.length > maxStatementLength)
    throw warehouseError(
      'statement_too_long',
      `Not sent: the statement has ${sql.length} characters; the limit is ${maxStatementLength}.`,
    );
  if (sql.includes('\0')) throw gateRefusal('parse', 'the text contains a NUL character.');
}

function functionRefusal(name: string, safeFunctions: ReadonlySet<string>, dialect: Dialect) {
  const part = partFunctions[name];
  return gateRefusal(
    'function',
    `the function ${name} is not on the list of safe functions.`,
    part === undefined
      ? `${suggestionText(name, safeFunctions)}If it only computes a value, add it to allow_functions of the connection in ktx.yaml.`
      : `Here, write ${dialect.datePart(part, 'x')} for ${name}(x).`,
  );
}

/** Functions of some engines, which others spell in another way. */
const partFunctions: Readonly<Record<string, DatePart | undefined>> = {
  year: 'year_number',
  quarter: 'quarter_of_year',
  month: 'month_of_year',
  week: 'week_of_year',
  day: 'day_of_month',
  hour: 'hour_of_day',
};

function leftOutError(name: UnresolvedTable) {
  return gateRefusal(
    'table',
    `the table ${fullName(name)} is outside of what this connection covers.`,
    'tables and exclude_tables of the connection in ktx.yaml say what it covers.',
  );
}

function fullName({ catalog, schema, table }: UnresolvedTable): string {
  return [catalog, schema, table].filter((part) => part !== undefined).join('.');
}

function unknownTableError(
  { catalog, schema, table }: UnresolvedTable,
  tables: readonly TableRef[],
) {
  const name = fullName({ catalog, schema, table });
  const suggestion = suggestionText(
    table,
    tables.map((candidate) => candidate.table),
  );
  const reason = `the table ${name} is not in the catalog of this connection.`;
  const hint = `${suggestion}\`ktx search\` lists the tables; check the schemas of the connection.`;
  // Any other name could be a file, a system table or another database, and is refused.
  const isPlainName =
    catalog === undefined &&
    [schema ?? table, table].every((part) => /^[a-z_]\w*$/i.test(part) && !isSystemName(part));
  return isPlainName
    ? warehouseError('missing_object', `Not sent: ${reason}`, { hint, details: { rule: 'table' } })
    : gateRefusal('table', reason, hint);
}

/** True for a name that any driver reserves for the system, whichever driver the connection has. */
function isSystemName(name: string): boolean {
  return drivers.some(({ systemNames }) => systemNames.test(name));
}

function suggestionText(name: string, candidates: Iterable<string>): string {
  const suggestions = nearest(name, candidates);
  return suggestions.length > 0 ? `Did you mean ${suggestions.join(', ')}? ` : '';
}
