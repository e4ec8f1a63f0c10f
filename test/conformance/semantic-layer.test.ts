import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { emit } from '../../src/semantic/emit/emit.ts';
import { loadModel } from '../../src/semantic/load/load.ts';
import { createPlan } from '../../src/semantic/plan/plan.ts';
import { withAnalyzer } from '../../src/sql/analyzer.ts';
import { type Case, filesOf, queryOf, suiteSchema } from './convert.ts';
import { hasClickhouse } from '../support/clickhouse.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { createTables, type Engine, engineNames, engineWith, rowsOf } from './engines.ts';

const suite = suiteSchema.parse(
  JSON.parse(readFileSync(new URL('semantic-layer.json', import.meta.url), 'utf8')),
);

const isMissing: Readonly<Record<string, boolean>> = {
  mysql: !hasMariadb,
  clickhouse: !hasClickhouse,
};

for (const name of [...engineNames, 'mysql', 'clickhouse'] as const) {
  describe.skipIf(isMissing[name])(`semantic layer on ${name}`, () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await engineWith(name, createTables(suite.tables));
    });
    afterAll(async () => engine.close());

    it.each(suite.cases)('$id $title', async (one) => {
      const outcome = await answer(engine, one);
      if ('error_matches' in one.expect) {
        expect(outcome).toBeInstanceOf(UserError);
        const { message, hint } = outcome as UserError;
        expect(`${message} ${hint}`).toMatch(new RegExp(one.expect.error_matches));
      } else {
        expect(comparable(outcome, one.expect.ordered)).toEqual(
          comparable(one.expect.rows, one.expect.ordered),
        );
      }
    });
  });
}

async function answer(
  engine: Engine,
  one: Case,
): Promise<readonly (readonly unknown[])[] | UserError> {
  const { dialect } = engine.warehouse;
  const { model, diagnostics } = await loadModel({ dialect, files: filesOf(suite, one.model) });
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  expect(errors).toEqual([]);
  let sql: string;
  try {
    sql = emit(await withAnalyzer(() => createPlan(model, queryOf(one))), dialect);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  return rowsOf(engine, sql);
}

function comparable(rows: unknown, ordered: boolean): unknown {
  if (!Array.isArray(rows)) return rows;
  const lines = rows.map((row: readonly unknown[]) => JSON.stringify(row.map(comparableCell)));
  return ordered ? lines : lines.toSorted();
}

/** Engines differ in how they spell a number and a midnight; six digits are compared. */
function comparableCell(cell: unknown): unknown {
  const isNumeric = typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell);
  if (typeof cell === 'number' || isNumeric) return Math.round(Number(cell) * 1e6) / 1e6;
  return typeof cell === 'string' ? cell.replace('T', ' ').replace(/ 00:00:00(\.0+)?$/, '') : cell;
}
