import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { lintSql } from '../../../src/semantic/lint/lint.ts';
import type { SemanticModel } from '../../../src/semantic/model/model.ts';
import { withAnalyzer } from '../../../src/sql/analyzer.ts';
import { load } from '../shop.ts';
import { type LabelledStatement, lintModel, statements } from './statements.ts';

/** Half of the statements, by the hash of their text, was set aside while the rules were made. */
const isSetApart = ([sql]: LabelledStatement) =>
  Number.parseInt(createHash('sha256').update(sql).digest('hex').slice(0, 8), 16) % 2 === 0;

let model: SemanticModel;
beforeAll(async () => {
  const loaded = await load({ ...lintModel });
  expect(loaded.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  ({ model } = loaded);
});

test.each([
  ['known', false],
  ['set apart', true],
])('faults of the statements that are %s are found, and nothing else', async (name, apart) => {
  const half = statements.filter((statement) => isSetApart(statement) === apart);
  expect(statements.length).toBeGreaterThanOrEqual(120);
  expect(half.length).toBeGreaterThan(50);
  let [found, expected, reported] = [0, 0, 0];
  const misses: string[] = [];
  await withAnalyzer(() => {
    [found, expected, reported] = [0, 0, 0];
    misses.length = 0;
    for (const [sql, ...breaks] of half) {
      const rules = new Set(lintSql(sql, model).findings.map(({ rule }) => rule));
      const hits = breaks.filter((rule) => rules.has(rule)).length;
      found += hits;
      expected += breaks.length;
      reported += rules.size;
      if (hits < breaks.length || rules.size > hits)
        misses.push(`${[...rules].join()} for ${breaks.join()}: ${sql}`);
    }
  });
  const [recall, precision] = [found / expected, found / reported];
  const shown = apart ? '' : `\n${misses.join('\n')}`;
  process.stdout.write(
    `lint, ${name}: recall ${recall.toFixed(3)}, precision ${precision.toFixed(3)} of ${half.length}${shown}\n`,
  );
  expect(recall).toBeGreaterThanOrEqual(0.9);
  expect(precision).toBeGreaterThanOrEqual(0.95);
});
