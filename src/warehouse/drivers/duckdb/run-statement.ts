import {
  ANY,
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBExtractedStatements,
  type DuckDBPreparedStatement,
  DuckDBVector,
  StatementType,
} from '@duckdb/node-api';
import type { QueryRows } from '../../driver.ts';
import { createRowBatches } from '../../engine-process/row-batches.ts';
import { gateRefusal } from '../../warehouse-error.ts';
import type { Cell } from '../../warehouse.ts';
import { fieldType } from './field-type.ts';
import { duckdbCell, numberStructFields } from './values.ts';

/** The least that a value takes in memory. */
const bytesPerValue = 8;

interface StatementOutput {
  readonly maxRows: number;
  readonly emit: (rows: readonly (readonly Cell[])[]) => Promise<void>;
}

/**
 * Runs one SELECT or EXPLAIN, emits its rows in batches, and stops after `maxRows` rows. Throws
 * `query_failed` if the result is too large.
 */
export async function runDuckdbStatement(
  connection: DuckDBConnection,
  sql: string,
  { maxRows, emit }: StatementOutput,
): Promise<Omit<QueryRows, 'rows'>> {
  const statements = await connection.extractStatements(sql);
  const statement = await prepareQuery(statements, sql);
  const result = await statement.stream();
  const columns = result
    .columnNames()
    .map((name, index) => ({ name, type: fieldType(String(result.columnType(index))) }));
  const types = result.columnTypes();
  const hasNestedColumns = columns.some(({ type }) => type === 'unknown');
  const batches = createRowBatches(emit);
  for (
    let chunk = await result.fetchChunk();
    chunk !== null && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    // `getRowValues` makes a JavaScript value of each element of a list: the size is checked before
    // it does.
    if (hasNestedColumns) batches.addSize(countValues(chunk) * bytesPerValue);
    for (let index = 0; index < chunk.columnCount; index += 1)
      numberStructFields(chunk.getColumnVector(index).type);
    const rowsToRead = Math.min(chunk.rowCount, maxRows - batches.count());
    for (let index = 0; index < rowsToRead; index += 1) {
      const values = chunk.getRowValues(index);
      batches.add(values.map((value, column) => duckdbCell(value, types[column] ?? ANY)));
      if (batches.isFull()) await batches.flush();
    }
    await batches.flush();
    if (rowsToRead < chunk.rowCount) return { columns, truncated: true };
  }
  return { columns, truncated: false };
}

/**
 * Prepares the SELECT or EXPLAIN; refuses everything else. A PIVOT without an IN list is two
 * statements to DuckDB: the first creates an enum of the values in memory, and the second selects.
 * Any other text with several statements is refused.
 */
async function prepareQuery(
  statements: DuckDBExtractedStatements,
  sql: string,
): Promise<DuckDBPreparedStatement> {
  if (statements.count !== 1 && !/\bPIVOT/i.test(sql))
    throw gateRefusal('statement', `the text has ${statements.count} statements.`);
  for (let index = 0; index < statements.count - 1; index += 1) {
    const preparation = await statements.prepare(index);
    if (preparation.statementType !== StatementType.CREATE)
      throw gateRefusal('statement', 'the text has several statements.');
    await preparation.run();
  }
  const statement = await statements.prepare(statements.count - 1);
  const isQuery =
    statement.statementType === StatementType.SELECT ||
    statement.statementType === StatementType.EXPLAIN;
  if (!isQuery) throw gateRefusal('statement', 'it is not a SELECT.');
  return statement;
}

/** The number of values in a chunk, including those inside lists, maps and structs. */
function countValues(chunk: DuckDBDataChunk): number {
  let count = 0;
  const vectors = Array.from({ length: chunk.columnCount }, (_, index) =>
    chunk.getColumnVector(index),
  );
  for (let vector = vectors.pop(); vector !== undefined; vector = vectors.pop()) {
    count += vector.itemCount;
    // A nested vector keeps its children in properties, under a different name for each type.
    const children = Object.values(vector).flat();
    vectors.push(...children.filter((child) => child instanceof DuckDBVector));
  }
  return count;
}
