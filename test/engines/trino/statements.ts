import { operatorsIn, scansIn } from '../duckdb-plan.ts';
import { type DuckdbRows, type EngineRows } from '../duckdb-rows.ts';
import { TrinoError } from './errors.ts';
import { mendTranslation, withOwnCatalogs } from './metadata.ts';

export interface StatementContext {
  /** Of the header `X-Trino-Transaction-Id`; `NONE` where the client can have one. */
  readonly transaction: string | undefined;
  /** Of the header `X-Trino-Session`. */
  readonly session: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

export interface StatementAnswer extends EngineRows {
  readonly headers?: Readonly<Record<string, string>>;
  readonly updateType?: string;
  /** What was read, in bytes. */
  readonly readBytes?: number;
}

export interface StatementRules {
  /** What the login may do besides reading. */
  readonly mayWrite: boolean;
  /** Estimates as the server gives them without statistics: NaN. */
  readonly hasStatistics: boolean;
}

const noRows: EngineRows = { columns: [], rows: [] };
const oneText = (name: string, text: string): EngineRows => ({
  columns: [{ name, type: 'VARCHAR' }],
  rows: [[text]],
});
/** Each row counts as so many bytes. */
const rowBytes = 8;
const writing =
  /^\s*(INSERT|DELETE|UPDATE|MERGE|TRUNCATE|CREATE|DROP|ALTER|COMMENT|GRANT|REVOKE|CALL|ANALYZE|REFRESH|EXECUTE)\b/i;
const data = /^\s*(?:INSERT|DELETE|UPDATE|MERGE)\b/i;

/** What the server does with statements: DuckDB answers queries, transactions are its own. */
export function openStatements(duckdb: DuckdbRows, rules: () => StatementRules) {
  /** The transactions that are open, with whether a statement in them failed. */
  const transactions = new Map<string, { isReadOnly: boolean; isAborted: boolean }>();
  const ask = (sql: string, signal: AbortSignal, prefix = ''): Promise<EngineRows> =>
    duckdb.run(withOwnCatalogs(sql), {
      dialect: 'trino',
      rewrite: (text) => prefix + mendTranslation(text),
      signal,
    });

  const startTransaction = (sql: string, { transaction }: StatementContext): StatementAnswer => {
    if (transaction === undefined)
      throw new TrinoError('INCOMPATIBLE_CLIENT', 'Client does not support transactions');
    if (transaction !== 'NONE')
      throw new TrinoError('NOT_SUPPORTED', 'Nested transactions not supported');
    const id = crypto.randomUUID();
    transactions.set(id, { isReadOnly: /READ\s+ONLY/i.test(sql), isAborted: false });
    return {
      ...noRows,
      updateType: 'START TRANSACTION',
      headers: { 'X-Trino-Started-Transaction-Id': id },
    };
  };

  const explain = async (sql: string, context: StatementContext): Promise<StatementAnswer> => {
    const [, options = '', statement = ''] =
      /^\s*EXPLAIN\s*(?:\(([^)]*)\))?([^]*)$/i.exec(sql) ?? [];
    if (/^\s*(?:ANALYZE|EXPLAIN)\b/i.test(statement))
      throw new TrinoError('SYNTAX_ERROR', `line 1:9: mismatched input '${statement.trim()}'`);
    if (/VALIDATE/i.test(options)) {
      const { mayWrite } = rules();
      if (writing.test(statement) && !mayWrite)
        throw new TrinoError('PERMISSION_DENIED', 'Access Denied: Cannot insert into table');
      return { columns: [{ name: 'Valid', type: 'BOOLEAN' }], rows: [['true']] };
    }
    if (writing.test(statement) && !data.test(statement))
      return oneText('Query Plan', statement.trim());
    const { rows } = await ask(statement, context.signal, 'EXPLAIN (FORMAT JSON) ');
    const plan = String(rows[0]?.[1]);
    if (!/TYPE\s+IO/i.test(options)) return oneText('Query Plan', plan);
    return oneText('Query Plan', JSON.stringify(ioPlan(plan, rules()), undefined, 2));
  };

  const runStatement = async (sql: string, context: StatementContext): Promise<StatementAnswer> => {
    if (/^\s*START\s+TRANSACTION\b/i.test(sql)) return startTransaction(sql, context);
    if (/^\s*EXPLAIN\b/i.test(sql)) return explain(sql, context);
    if (/;\s*\S/.test(sql.replaceAll(/'[^']*'|--.*|\/\*[^]*?\*\//g, '')))
      throw new TrinoError('SYNTAX_ERROR', "line 1:1: mismatched input ';'. Expecting: <EOF>");
    const open = transactions.get(context.transaction ?? '');
    if (writing.test(sql)) {
      if (open?.isReadOnly === true)
        throw new TrinoError(
          'READ_ONLY_VIOLATION',
          'Cannot execute write in a read-only transaction',
        );
      await ask(sql, context.signal);
      return { ...noRows, updateType: writing.exec(sql)?.[1]?.toUpperCase() ?? '' };
    }
    const readBytes = await bytesRead(sql, context.signal);
    const limit = /^(\d+)B$/.exec(context.session.get('query_max_scan_physical_bytes') ?? '')?.[1];
    if (limit !== undefined && readBytes > Number(limit))
      throw new TrinoError(
        'EXCEEDED_SCAN_LIMIT',
        `Query exceeded per-query physical scan limit of ${limit}B`,
      );
    return { ...(await ask(sql, context.signal)), readBytes };
  };

  const bytesRead = async (sql: string, signal: AbortSignal): Promise<number> => {
    const { rows } = await ask(sql, signal, 'EXPLAIN (FORMAT JSON) ');
    return scansIn(JSON.parse(String(rows[0]?.[1]))).reduce(
      (sum, scan) => sum + scan.rows * rowBytes,
      0,
    );
  };

  return {
    transactions,
    async run(sql: string, context: StatementContext): Promise<StatementAnswer> {
      const { transaction } = context;
      const open = transactions.get(transaction ?? '');
      if (transaction !== undefined && transaction !== 'NONE' && open === undefined)
        throw new TrinoError('UNKNOWN_TRANSACTION', `Unknown transaction ID: ${transaction}`);
      if (/^\s*(?:ROLLBACK|COMMIT)\b/i.test(sql)) {
        transactions.delete(transaction ?? '');
        return { ...noRows, headers: { 'X-Trino-Clear-Transaction-Id': 'true' } };
      }
      if (open?.isAborted === true)
        throw new TrinoError(
          'TRANSACTION_ALREADY_ABORTED',
          'Current transaction is aborted, commands ignored until end of transaction block',
        );
      try {
        return await runStatement(sql, context);
      } catch (error) {
        if (open !== undefined) open.isAborted = true;
        throw error;
      }
    },
  };
}

/** The plan as `EXPLAIN (TYPE IO, FORMAT JSON)` has it. */
function ioPlan(plan: string, { hasStatistics }: StatementRules): object {
  const parsed: unknown = JSON.parse(plan);
  const named = (table: string) => {
    const [catalog, schema, ...name] = table.split('.');
    return { catalog, schemaTable: { schema, table: name.join('.') } };
  };
  const amount = (number: number): number | string => (hasStatistics ? number : 'NaN');
  const writes = operatorsIn(parsed).find(({ name }) =>
    /^(?:INSERT|DELETE|UPDATE|MERGE)/.test(name),
  );
  const estimate = (rows: number) => ({
    outputRowCount: amount(rows),
    outputSizeInBytes: amount(rows * rowBytes),
    cpuCost: amount(rows * rowBytes),
    maxMemory: amount(0),
    networkCost: amount(0),
  });
  return {
    inputTableColumnInfos: scansIn(parsed).map(({ table, rows }) => ({
      table: named(table),
      constraint: { none: false, columnConstraints: [] },
      estimate: estimate(rows),
    })),
    ...(writes !== undefined && { outputTable: named('memory.main.canary') }),
    estimate: estimate(1),
  };
}
