import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { noLabels } from '../../src/context/catalog/column-labels.ts';
import { findCandidates } from '../../src/scan/links/find-candidates.ts';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { buildTableFacts, type TableFacts } from '../../src/scan/facts/table-facts.ts';
import { featuresOf } from '../../src/scan/links/features.ts';
import { addRivals, type LinkCandidate } from '../../src/scan/links/link-candidate.ts';
import { findKeys } from '../../src/scan/keys/find-keys.ts';
import { measureCandidates } from '../../src/scan/links/measure-candidates.ts';
import { columnPairKey } from '../../src/scan/links/observed-joins.ts';
import { profileTable } from '../../src/scan/profile/profile-table.ts';
import {
  groupByChild,
  selectForMeasurement,
  type FeatureWeights,
} from '../../src/scan/links/rank-candidates.ts';
import { openScanStore } from '../../src/scan/scan-store.ts';
import { generateDatabase } from './generate/schema-generator.ts';
import { type DatabaseTruth, type GeneratedDatabase, seededRandom } from './generated-database.ts';
import { patternDatabases } from './patterns/registry.ts';
import { publicSeen } from './public-schemas.ts';
import { shapesSeen } from './shapes-seen.ts';
import { writeDatabase } from './write-database.ts';
import { calibrationError, withWarehouse } from './score.ts';

/**
 * `node bench/relationships/train.ts [<first seed> <schemas>]` trains the coefficients and writes
 * them to `src/scan`: on generated schemas, half of them with declared primary keys, on the
 * families of databases that the registry sets aside for training, and on the schemas that rules
 * were developed on, each with its keys hidden and known. The benchmarks use other seeds, other
 * families and real databases. With `--check` it writes nothing, and fails if `src/scan` has other
 * coefficients. The result depends only on the seeds and the code.
 */
const isCheck = process.argv.includes('--check');
const [first = '1', count = '120'] = process.argv
  .slice(2)
  .filter((argument) => !argument.startsWith('-'));
const rounds = 3;
/** The weights that select the pairs of the first round. */
const rough: FeatureWeights = { unnamed: -2, complete: 2, parentPrior: 2, childHome: -2 };

interface Example {
  readonly x: readonly number[];
  readonly y: 0 | 1;
}
/** The candidates of one schema before and after measurement, and which of them are links. */
interface Sample {
  readonly found: readonly LinkCandidate[];
  readonly exact: ReadonlyMap<string, LinkCandidate>;
  readonly truth: ReadonlySet<string>;
  /** Pairs that are neither right nor wrong. */
  readonly open: ReadonlySet<string>;
}

/** What one sample is made of. */
interface Lesson {
  readonly database: GeneratedDatabase;
  readonly isKeyKnown: boolean;
  /** Seed of a query log; undefined without one. */
  readonly log?: number | undefined;
}

const dir = mkdtempSync(join(tmpdir(), 'ktx-train-'));
const samples: Sample[] = [];
for (const lesson of lessons()) samples.push(await sampleOf(lesson));
rmSync(dir, { recursive: true });
let weights = rough;
let rows: Example[] = [];
for (let round = 0; round < rounds; round += 1) {
  rows = samples.flatMap((sample) => examplesOf(sample, weights));
  weights = fitted(rows);
}
const vector = Object.values(weights);
const predicted = rows.map(({ x, y }) => [sigmoid(dot(x, vector)), y === 1] as const);
console.log(
  `${rows.length} pairs, ${rows.filter(({ y }) => y === 1).length} links, calibration error ${calibrationError(predicted).toFixed(4)}`,
);
for (const [name, weight] of Object.entries(weights))
  console.log(name.padEnd(20), weight.toFixed(3));
const path = join(import.meta.dirname, '../../src/scan/links/coefficients.json');
const rounded = Object.entries(weights).map(([name, weight]) => [name, Number(weight.toFixed(3))]);
const text = `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`;
if (!isCheck) writeFileSync(path, text);
else if (text !== readFileSync(path, 'utf8')) {
  console.log(
    'src/scan/links/coefficients.json is not what this training gives: run it without --check',
  );
  process.exitCode = 1;
}

function lessons(): Lesson[] {
  const seeds = Array.from({ length: Number(count) }, (_, index) => Number(first) + index);
  const written = [
    ...patternDatabases('training').map(({ database }) => database),
    ...[shapesSeen, publicSeen].flatMap((set) => Object.values(set).map((make) => make())),
  ];
  return [
    ...seeds.map((seed) => ({
      database: generateDatabase(seed),
      isKeyKnown: seed % 2 === 0,
      log: seed % 3 === 0 ? seed : undefined,
    })),
    ...written.flatMap((database) => [false, true].map((isKeyKnown) => ({ database, isKeyKnown }))),
  ];
}

async function sampleOf({ database, isKeyKnown, log }: Lesson): Promise<Sample> {
  const { truth } = database;
  const file = join(dir, 'lesson.sqlite');
  writeDatabase(file, database);
  const arrows = (list: DatabaseTruth['links'] = []): string[] =>
    list
      .filter(({ from_columns: own }) => own.length === 1)
      .map((link) =>
        JSON.stringify([link.from, link.from_columns[0], link.to, link.to_columns[0]]),
      );
  const [links, open] = [arrows(truth.links), arrows(truth.open)];
  const db = new DatabaseSync(':memory:');
  const signal = new AbortController().signal;
  const config = scanConfigSchema.parse({});
  try {
    return await withWarehouse(file, async (warehouse) => {
      const context = {
        warehouse,
        config,
        signal,
        onQuery: () => undefined,
        labels: noLabels,
        store: openScanStore(db, 'train'),
      };
      const schema = await warehouse.introspect({}, signal);
      const profiled = [];
      for (const bare of schema.tables) {
        const key = truth.primary_keys[bare.table];
        const table = { ...bare, uniqueKeys: [], primaryKey: isKeyKnown ? key : undefined };
        profiled.push({ schema: table, profile: await profileTable(table, context), version: '' });
      }
      const tables = buildTableFacts(profiled);
      const keys = await findKeys(tables, context);
      const seen =
        log === undefined
          ? new Map<string, number>()
          : logOf(tables, { links: new Set(links), random: seededRandom(log) });
      const found = findCandidates(tables, keys, { observedJoins: seen }).filter(
        ({ typeColumn }) => typeColumn === undefined,
      );
      const exact = await measureCandidates(found, context);
      return {
        found,
        exact: new Map(exact.map((candidate) => [arrowOf(candidate), candidate])),
        truth: new Set(links),
        open: new Set(open),
      };
    });
  } finally {
    db.close();
    rmSync(file);
  }
}

/**
 * The pairs that a query log joins: most links, and some other pairs; pairs with similar names are
 * likelier.
 */
function logOf(
  tables: readonly TableFacts[],
  { links, random }: { readonly links: ReadonlySet<string>; readonly random: () => number },
) {
  const columns = tables.flatMap((table) => table.columns);
  const known = random() * 0.9;
  const seen = new Map<string, number>();
  for (const child of columns) {
    for (const parent of columns) {
      if (child.table === parent.table && child === parent) continue;
      const isLink = links.has(
        JSON.stringify([child.table.ref.table, child.name, parent.table.ref.table, parent.name]),
      );
      const chance = isLink ? known : child.name === parent.name ? 0.02 : 0.0004;
      if (random() < chance)
        seen.set(columnPairKey(child, parent), 1 + Math.floor(random() ** 2 * (isLink ? 30 : 3)));
    }
  }
  return seen;
}

function arrowOf({ child, parent: { column } }: LinkCandidate): string {
  return JSON.stringify([child.table.ref.table, child.name, column.table.ref.table, column.name]);
}

/** The pairs that a scan with these weights would measure. */
function examplesOf({ found, exact, truth, open }: Sample, selecting: FeatureWeights): Example[] {
  const kept = selectForMeasurement(found, selecting).map((candidate) => {
    const values = candidate.isOpen === true ? undefined : exact.get(arrowOf(candidate))?.values;
    return values ? { ...candidate, values } : candidate;
  });
  return groupByChild(kept)
    .flatMap(addRivals)
    .filter((candidate) => !open.has(arrowOf(candidate)))
    .map((candidate) => ({
      x: Object.values(featuresOf(candidate)),
      y: truth.has(arrowOf(candidate)) ? 1 : 0,
    }));
}

function fitted(data: readonly Example[]): FeatureWeights {
  const [candidate] = samples.flatMap(({ found }) => found);
  const names = candidate ? Object.keys(featuresOf(candidate)) : [];
  const values = fit(data, { ridge: 1, size: names.length });
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? 0]));
}

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

/** Newton's method on the regularised log likelihood. */
function fit(
  data: readonly Example[],
  { ridge, size }: { readonly ridge: number; readonly size: number },
): number[] {
  let current = Array.from({ length: size }, () => 0);
  for (let step = 0; step < 30; step += 1) {
    const gradient = current.map((weight, index) => (index === 0 ? 0 : -ridge * weight));
    const hessian = current.map((_, i) =>
      current.map((__, j) => (i === j ? (i === 0 ? 1e-6 : ridge) : 0)),
    );
    for (const example of data) addExample(example, { current, gradient, hessian });
    const delta = solve(hessian, gradient);
    current = current.map((weight, index) => weight + (delta[index] ?? 0));
    if (Math.max(...delta.map(Math.abs)) < 1e-6) break;
  }
  return current;
}

function addExample(
  { x, y }: Example,
  { current, gradient, hessian }: { current: number[]; gradient: number[]; hessian: number[][] },
): void {
  const p = sigmoid(dot(x, current));
  for (const [i, value] of x.entries()) {
    gradient[i] = (gradient[i] ?? 0) + (y - p) * value;
    const row = hessian[i] ?? [];
    for (const [j, other] of x.entries()) row[j] = (row[j] ?? 0) + p * (1 - p) * value * other;
  }
}

/** Gaussian elimination with pivoting. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rowsLeft = matrix.map((row, index) => [...row, right[index] ?? 0]);
  for (let column = 0; column < rowsLeft.length; column += 1) {
    const pivot = rowsLeft
      .slice(column)
      .reduce(
        (best, row, index) =>
          Math.abs(row[column] ?? 0) > Math.abs(rowsLeft[best]?.[column] ?? 0)
            ? index + column
            : best,
        column,
      );
    [rowsLeft[column], rowsLeft[pivot]] = [rowsLeft[pivot] ?? [], rowsLeft[column] ?? []];
    const top = rowsLeft[column] ?? [];
    for (const [index, row] of rowsLeft.entries()) {
      if (index === column) continue;
      const factor = (row[column] ?? 0) / (top[column] ?? 1);
      for (let at = column; at < row.length; at += 1)
        row[at] = (row[at] ?? 0) - factor * (top[at] ?? 0);
    }
  }
  return rowsLeft.map((row, index) => (row.at(-1) ?? 0) / (row[index] ?? 1));
}
