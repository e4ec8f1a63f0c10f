import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { files, script } from './hazards/model.ts';
import { questions, times } from './hazards/questions.ts';
import { compile, load } from './shop.ts';

function plain(cell: unknown): unknown {
  if (typeof cell === 'boolean') return Number(cell);
  if (cell === null || cell === '' || Number.isNaN(Number(cell))) return cell;
  return Math.round(Number(cell) * 1e9) / 1e9;
}

describe.each(engineNames)('hazards on %s', (name) => {
  let engine: Engine;
  let model: SemanticModel;
  beforeAll(async () => {
    engine = await engineWith(name, script);
    const loaded = await load(files, engine.warehouse.dialect);
    expect(loaded.diagnostics).toEqual([]);
    ({ model } = loaded);
  });
  afterAll(async () => engine.close());

  test.each(Object.entries({ ...questions, ...times }))(
    '%s',
    async (_, { query, is, isOrdered }) => {
      const read = (rows: readonly (readonly unknown[])[]) => {
        const lines = rows.map((row) => JSON.stringify(row.map(plain)));
        return isOrdered === true ? lines : lines.toSorted();
      };
      const answer = await rowsOf(engine, compile(model, query).sql);
      expect(read(answer)).toEqual(read(typeof is === 'string' ? await rowsOf(engine, is) : is));
    },
  );
});
