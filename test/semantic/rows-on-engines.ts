import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import {
  type Engine,
  engineNames,
  engineWith,
  roundedCell,
  rowsOf,
} from '../conformance/engines.ts';
import { hasMariadb } from '../support/mariadb.ts';
import type { Query } from './fuzz/query-text.ts';
import { compile, load } from './shop.ts';

/** A query, and its rows in their order; numbers with six decimals. */
export interface EngineCase {
  readonly query: Query;
  readonly rows: readonly (readonly unknown[])[];
}

interface World {
  /** The tables and their rows. */
  readonly script: string;
  /** The datasets, by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly cases: Readonly<Record<string, EngineCase>>;
}

/** Each case is a test on every engine that runs here; on MariaDB where it is installed. */
export function testRowsOnEngines(title: string, { script, files, cases }: World): void {
  describe.each([...engineNames, 'mysql' as const])(`${title} on %s`, (name) => {
    const isThere = name !== 'mysql' || hasMariadb;
    let engine: Engine;
    let model: SemanticModel;
    beforeAll(async () => {
      if (!isThere) return;
      engine = await engineWith(name, script);
      const loaded = await load(files, engine.warehouse.dialect);
      expect(loaded.diagnostics).toEqual([]);
      ({ model } = loaded);
    });
    afterAll(async () => {
      if (isThere) await engine.close();
    });

    test.skipIf(!isThere).each(Object.entries(cases))('%s', async (_, { query, rows }) => {
      const given = await rowsOf(engine, compile(model, query).sql);
      expect(given.map((row) => row.map((cell) => roundedCell(cell, 6)))).toEqual(rows);
    });
  });
}
