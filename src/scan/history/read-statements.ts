import { withAnalyzer } from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { TableSchema } from '../../warehouse/warehouse.ts';
import type { HistoryStatement } from './collect-statements.ts';
import { readStatement, tableResolver } from './read-statement.ts';
import type { SelectUse } from './statement-use.ts';

/** A statement of the history, and what it asks of tables of the catalog. */
export interface ReadStatement extends HistoryStatement {
  readonly selects: readonly SelectUse[];
}

export interface ReadStatements {
  /** Those that ask something of a table of the catalog. */
  readonly read: readonly ReadStatement[];
  /** Those that the parser cannot read. */
  readonly unparsed: readonly HistoryStatement[];
}

/** Between two looks at the signal. */
const batchSize = 200;

export async function readStatements(
  statements: readonly HistoryStatement[],
  {
    tables,
    dialect,
    signal,
  }: {
    readonly tables: readonly TableSchema[];
    readonly dialect: Dialect;
    readonly signal: AbortSignal;
  },
): Promise<ReadStatements> {
  const resolve = tableResolver(tables);
  const read: ReadStatement[] = [];
  const unparsed: HistoryStatement[] = [];
  for (const [index, statement] of statements.entries()) {
    if (index % batchSize === 0) {
      signal.throwIfAborted();
      await new Promise(setImmediate);
    }
    const selects = await withAnalyzer(() => readStatement(statement.sql, resolve, dialect));
    if (selects === undefined) unparsed.push(statement);
    else if (selects.length > 0) read.push({ ...statement, selects });
  }
  return { read, unparsed };
}
