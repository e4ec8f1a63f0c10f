import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

const lines = `
dataset: lines
source: lines
primary_key: [id]
fields:
  - {name: id, type: integer}
  - {name: a, type: integer}
  - {name: b, type: integer}
  - {name: share, expr: a / b, type: decimal}
  - {name: chain, expr: 100 - a / b / 2 * 4, type: decimal}
  - {name: grouped, expr: (a + 2) / (b + 2), type: decimal}
  - {name: percent, expr: a / 2.0, type: decimal}
  - {name: exact, expr: "coalesce(a, 0) / cast(b as integer)", type: decimal}
  - {name: words, expr: "'a / b'", type: string}
segments:
  - {name: halves, where: a / b = 0.5}
metrics:
  - {name: shares, agg: sum, of: a / b}
  - {name: written, expr: sum(a / b)}
  - {name: filtered, agg: count, where: a / b > 0.4}
  - {name: chained, expr: 10 - sum(a) / count(*) / 2 * 4}
  - {name: cased, expr: case when sum(a) / 2 > 0 then sum(a) / (0 - count(*)) end / -2}
  - {name: by_zero, expr: sum(a) / (sum(b) - sum(b))}
relationships:
  - {to: halves, on: id = halves.id and a / b * 2 = halves.id}
`;
const halves =
  'dataset: halves\nsource: halves\nprimary_key: [id]\nfields: [{name: id, type: integer}, {name: name, type: string}]\n';
const script = `CREATE TABLE lines (id INTEGER, a INTEGER, b INTEGER);
INSERT INTO lines VALUES (1, 1, 2);
CREATE TABLE halves (id INTEGER, name VARCHAR(9));
INSERT INTO halves VALUES (1, 'half');`;

describe.each(engineNames)('a division of whole numbers on %s', (name) => {
  let engine: Engine;
  let model: Awaited<ReturnType<typeof load>>['model'];
  beforeAll(async () => {
    engine = await engineWith(name, script);
    const loaded = await load({ lines, halves }, engine.warehouse.dialect);
    expect(loaded.diagnostics).toEqual([]);
    ({ model } = loaded);
  });
  afterAll(async () => engine.close());

  const numbers = async (query: Parameters<typeof compile>[1]): Promise<unknown[]> => {
    const [row = []] = await rowsOf(engine, compile(model, query).sql);
    return row.map((cell) => (cell === null ? null : Math.round(Number(cell) * 1e6) / 1e6));
  };

  test('does not truncate in a field', async () => {
    const fields = ['share', 'chain', 'grouped', 'percent', 'exact'].map(
      (field) => `lines.${field}`,
    );
    expect(await numbers({ dimensions: fields })).toEqual([0.5, 99, 0.75, 0.5, 0.5]);
  });

  test('does not truncate inside an aggregate, of the model or of a query, nor in a condition', async () => {
    const metrics = [
      'lines.shares',
      'lines.written',
      'lines.filtered',
      'avg(lines.a / lines.b)',
      'sum(lines.a) / sum(lines.b)',
    ];
    expect(
      await numbers({ metrics, segments: ['lines.halves'], where: ['lines.a / lines.b < 0.6'] }),
    ).toEqual([0.5, 0.5, 1, 0.5, 0.5]);
    expect(await numbers({ metrics, having: ['lines.written / 2 = 0.25'] })).toEqual([
      0.5, 0.5, 1, 0.5, 0.5,
    ]);
  });

  test('by a zero in a row is NULL, wherever it stands', async () => {
    const byZero = '10 / (lines.a - lines.a)';
    const metrics = [
      `sum(${byZero})`,
      `count(${byZero})`,
      'sum(lines.a / (lines.b - 2) + 1)',
      'sum(2.5 / (lines.a - 1))',
      'sum(case when lines.b % (lines.a - 1) is null then 7 end)',
      'sum(lines.a / lines.b / -(lines.a - 1))',
      'count(lines.id)',
    ];
    expect(await numbers({ metrics })).toEqual([null, 0, null, null, 7, null, 1]);
    expect(await numbers({ metrics: ['count(lines.id)'], where: [`${byZero} > 0`] })).toEqual([0]);
  });

  test('keeps the precedence of what was written, and gives NULL by zero', async () => {
    expect(await numbers({ metrics: ['lines.chained', 'lines.cased', 'lines.by_zero'] })).toEqual([
      8,
      0.5,
      null,
    ]);
  });

  test('does not truncate in the condition of a relationship, and leaves text alone', async () => {
    const { sql } = compile(model, {
      metrics: ['lines.shares'],
      dimensions: ['lines.words', 'halves.name'],
    });
    expect((await rowsOf(engine, sql))[0]?.slice(0, 2)).toEqual(['a / b', 'half']);
  });
});
