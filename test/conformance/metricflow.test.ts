import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { UserError } from '../../src/lib/error.ts';
import { emit } from '../../src/semantic/emit/emit.ts';
import { readMetricflow } from '../../src/semantic/formats/metricflow/read.ts';
import { loadModel } from '../../src/semantic/load/load.ts';
import { createPlan } from '../../src/semantic/plan/plan.ts';
import { withAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { type Engine, engineWith } from './engines.ts';
import {
  caseQuery,
  caseSchema,
  Inexpressible,
  type MetricflowCase,
} from './metricflow/case-query.ts';
import { readManifest } from './metricflow/manifest.ts';

/** MetricFlow's own integration cases; they are not part of the repository. */
const [folder] = ['../../../shared/', '../../../../shared/']
  .map((path) => new URL(`${path}data/metricflow/`, import.meta.url))
  .filter((path) => existsSync(path));
const documentation = readFileSync(
  new URL('../../docs/semantic-layer.md', import.meta.url),
  'utf8',
);
const isThere = folder !== undefined;
const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');
const cases = isThere
  ? z.object({ cases: z.array(caseSchema) }).parse(JSON.parse(read('cases.json'))).cases
  : [];

/** The conversion was written without these cases: every third by the hash of its name. */
const isSetApart = ({ name }: MetricflowCase) =>
  Number.parseInt(createHash('sha256').update(name).digest('hex').slice(0, 8), 16) % 3 === 0;

/** What a refusal says, by the feature that the documentation names. */
const refusals: readonly (readonly [feature: string, why: RegExp])[] = [
  ['offsets by a period of a custom calendar', /does not know the period \d+ \w+/],
  ['approximate percentiles', /approximate percentile/],
  ['`metric_time` beside other dimensions without a metric', /^metric_time needs a metric$/],
  ['rows that are not grouped', /^rows that are not grouped$/],
  ['a dimension that several paths of equal length reach', /is ambiguous/],
  ['a dimension of an entity that no semantic model has', /^There is no dataset or role named/],
];

type Outcome = { readonly kind: 'exact' | 'refused' | 'different'; readonly why: string };

describe.skipIf(!isThere)("MetricFlow's own cases", () => {
  let engine: Engine;
  const models = new Map<string, ReturnType<typeof importModel>>();
  const outcomes = new Map<MetricflowCase, Outcome>();
  beforeAll(async () => {
    engine = await engineWith('duckdb', read('data.sql'));
  });
  afterAll(async () => {
    await engine?.close();
    process.stdout.write(`${table(outcomes)}\n`);
  });

  it('the documentation lists these refusals and no others', () => {
    const [, behind = ''] = documentation.split('| feature of MetricFlow |');
    const [rows = ''] = behind.split('\n\n');
    const listed = rows
      .split('\n')
      .slice(2)
      .map((row) => row.split(' | ')[0]);
    expect(listed).toHaveLength(refusals.length);
    for (const [feature] of refusals)
      expect(listed.filter((row) => row?.startsWith(`| ${feature}`) === true)).toHaveLength(1);
  });

  it.each(cases)('$name has the expected rows, or is refused', async (one) => {
    const imported = models.get(one.model) ?? importModel(one.model);
    models.set(one.model, imported);
    const outcome = await outcomeOf(engine, one, await imported);
    outcomes.set(one, outcome);
    expect(outcome.kind, outcome.why).not.toBe('different');
    if (outcome.kind === 'refused') {
      const [feature] = refusals.find(([, why]) => why.test(outcome.why)) ?? [];
      expect(documentation, outcome.why).toContain(`| ${feature}`);
    }
  });
});

async function importModel(name: string) {
  const dialect = findDialect('duckdb');
  const text = read(`models/${name}.yml`);
  const spines = read('models/TIME_SPINES.yml');
  const { datasets, misfits } = await withAnalyzer(() => readMetricflow([text, spines], dialect));
  const files = datasets.map((dataset) => ({
    path: `${dataset.dataset}.yaml`,
    text: stringify(dataset),
  }));
  const { model, diagnostics } = await loadModel({ dialect, files });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const leftOut = new Map(
    misfits.map(({ at, message }) => [at.replace(/^metrics\./, ''), message] as const),
  );
  return { model, leftOut, manifest: readManifest(text, spines) };
}

async function outcomeOf(
  engine: Engine,
  one: MetricflowCase,
  { model, manifest, leftOut }: Awaited<ReturnType<typeof importModel>>,
): Promise<Outcome> {
  const left = one.metrics.find((name) => leftOut.get(name)?.startsWith('left out'));
  if (left !== undefined)
    return { kind: 'refused', why: `${left}: ${leftOut.get(left)?.replace('left out: ', '')}` };
  let sql: string;
  let columns: readonly { readonly metricflow: string }[];
  try {
    const converted = caseQuery(one, manifest);
    columns = converted.columns;
    sql = emit(await withAnalyzer(() => createPlan(model, converted.query)), model.dialect);
  } catch (error) {
    if (error instanceof UserError || error instanceof Inexpressible)
      return { kind: 'refused', why: error.message };
    throw error;
  }
  const expected = await rowsByName(engine, one.check);
  const expectedNames = [...(expected[0]?.keys() ?? [])];
  // MetricFlow's rows may have a longer path in front: the name of the query is what it ends with.
  const names = columns.map(
    ({ metricflow }) =>
      expectedNames.find((name) => name === metricflow || name.endsWith(`__${metricflow}`)) ??
      metricflow,
  );
  const actual = await rowsByName(engine, sql, names);
  const orderNames = one.order_bys.map((item) => item.replace(/^-/, ''));
  const [actualLines, expectedLines] = [actual, expected].map((rows) => [
    ...comparable(rows).toSorted(),
    // Rows that are equal in the order may stand in any order.
    ...(orderNames.length === 0 ? [] : comparable(rows.map((row) => columnsOf(row, orderNames)))),
  ]);
  if (actualLines?.join('\n') === expectedLines?.join('\n')) return { kind: 'exact', why: '' };
  const why = [
    sql,
    ...(actualLines ?? []).slice(0, 8),
    'expected',
    ...(expectedLines ?? []).slice(0, 8),
  ];
  return { kind: 'different', why: why.join('\n') };
}

function columnsOf(row: ReadonlyMap<string, unknown>, names: readonly string[]) {
  return new Map([...row].filter(([name]) => names.some((wanted) => name.startsWith(wanted))));
}

async function rowsByName(engine: Engine, sql: string, names?: readonly string[]) {
  const result = await engine.warehouse.query(
    sql,
    { maxRows: 100_000, timeoutMs: 20_000 },
    new AbortController().signal,
  );
  const columns = names ?? result.columns.map(({ name }) => name);
  return result.rows.map((row) => new Map(columns.map((name, index) => [name, row[index]])));
}

/** One line a row, the cells in the order of their names. */
function comparable(rows: readonly ReadonlyMap<string, unknown>[]): readonly string[] {
  return rows.map((row) => {
    const cells = [...row].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify(cells.map(([name, cell]) => [name, comparableCell(cell)]));
  });
}

function comparableCell(cell: unknown): unknown {
  const isNumeric = typeof cell === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell);
  if (typeof cell === 'number' || typeof cell === 'bigint' || isNumeric)
    return Number(Number(cell).toPrecision(10));
  return typeof cell === 'string'
    ? cell.replace('T', ' ').replace(/ 00:00:00(\.0+)?Z?$/, '')
    : cell;
}

function table(outcomes: ReadonlyMap<MetricflowCase, Outcome>): string {
  const count = (kind: Outcome['kind'], apart: boolean) =>
    [...outcomes].filter(([one, outcome]) => outcome.kind === kind && isSetApart(one) === apart)
      .length;
  const kinds = ['exact', 'refused', 'different'] as const;
  const lines = [false, true].map(
    (apart) =>
      `${apart ? 'set apart' : 'known'}: ${kinds.map((kind) => `${count(kind, apart)} ${kind}`).join(', ')}`,
  );
  // Who builds the conversion sees of the cases set apart how many succeed, not which fail.
  const refused = [...outcomes].filter(([one, { kind }]) => kind === 'refused' && !isSetApart(one));
  const rows = refused.map(([{ name }, { why }]) => `| ${name} | ${why} |`);
  return [...lines, '| case | why ktx refuses it |', '|---|---|', ...rows].join('\n');
}
