import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findCandidates } from '../../src/scan/candidates.ts';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { factsOf } from '../../src/scan/facts.ts';
import { featuresOf } from '../../src/scan/features.ts';
import { findKeys } from '../../src/scan/keys.ts';
import { confirm } from '../../src/scan/confirm.ts';
import { profileTable } from '../../src/scan/profile.ts';
import { openScanStore } from '../../src/scan/store.ts';
import { generate, writeDatabase } from './generate.ts';
import { calibrationError, withWarehouse } from './score.ts';

/**
 * Trains the coefficients on generated schemas, half of them with declared primary keys, and writes them to `src/scan`:
 * `node bench/relationships/train.ts <first seed> <schemas>`. The benchmark tests on other seeds and on real databases.
 */
const [first = '1', count = '240'] = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), 'ktx-train-'));
interface Example {
  readonly x: readonly number[];
  readonly y: 0 | 1;
}
const featureNames: string[] = [];
const rows: Example[] = [];
for (let seed = Number(first); seed < Number(first) + Number(count); seed += 1) rows.push(...(await examples(seed)));
rmSync(dir, { recursive: true });
const weights = fit(rows, 1);
const predicted = rows.map(({ x, y }) => [sigmoid(dot(x, weights)), y === 1] as const);
console.log(
  `${rows.length} pairs, ${rows.filter(({ y }) => y === 1).length} links, calibration error ${calibrationError(predicted).toFixed(4)}`,
);
featureNames.forEach((name, index) => console.log(name.padEnd(20), (weights[index] ?? 0).toFixed(3)));
const path = join(import.meta.dirname, '../../src/scan/coefficients.json');
const rounded = featureNames.map((name, index) => [name, Number((weights[index] ?? 0).toFixed(3))]);
writeFileSync(path, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);

async function examples(seed: number): Promise<Example[]> {
  const generated = generate(seed);
  const file = join(dir, `${seed}.sqlite`);
  writeDatabase(file, generated);
  const truth = new Set(
    generated.truth.links.map((link) => JSON.stringify([link.from, link.from_columns[0], link.to, link.to_columns[0]])),
  );
  const db = new DatabaseSync(':memory:');
  const signal = new AbortController().signal;
  const config = scanConfigSchema.parse({});
  try {
    return await withWarehouse(file, async (warehouse) => {
      const context = { warehouse, config, signal, onQuery: () => undefined, store: openScanStore(db, 'train') };
      const schema = await warehouse.introspect({}, signal);
      const profiled = [];
      for (const bare of schema.tables) {
        const key = generated.truth.primary_keys[bare.table];
        const table = { ...bare, uniqueKeys: [], primaryKey: seed % 2 === 0 ? key : undefined };
        profiled.push({ schema: table, profile: await profileTable(table, context), version: '' });
      }
      const tables = factsOf(profiled);
      const keys = await findKeys(tables, context);
      const candidates = await confirm(findCandidates(tables, keys.parents), context);
      const judged = candidates.filter(({ typeColumn }) => typeColumn === undefined);
      return judged.map((candidate) => {
        const { child, parent } = candidate;
        const arrow = JSON.stringify([child.table.ref.table, child.name, parent.column.table.ref.table, parent.column.name]);
        const features = featuresOf(candidate);
        if (featureNames.length === 0) featureNames.push(...Object.keys(features));
        return { x: Object.values(features), y: truth.has(arrow) ? 1 : 0 };
      });
    });
  } finally {
    db.close();
    rmSync(file);
  }
}

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

/** Newton's method on the regularised log likelihood. */
function fit(data: readonly Example[], ridge: number): number[] {
  const size = featureNames.length;
  let current = Array.from({ length: size }, () => 0);
  for (let step = 0; step < 30; step += 1) {
    const gradient = current.map((weight, index) => (index === 0 ? 0 : -ridge * weight));
    const hessian = current.map((_, i) => current.map((__, j) => (i === j ? (i === 0 ? 1e-6 : ridge) : 0)));
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
      .reduce((best, row, index) => (Math.abs(row[column] ?? 0) > Math.abs(rowsLeft[best]?.[column] ?? 0) ? index + column : best), column);
    [rowsLeft[column], rowsLeft[pivot]] = [rowsLeft[pivot] ?? [], rowsLeft[column] ?? []];
    const top = rowsLeft[column] ?? [];
    for (const [index, row] of rowsLeft.entries()) {
      if (index === column) continue;
      const factor = (row[column] ?? 0) / (top[column] ?? 1);
      for (let at = column; at < row.length; at += 1) row[at] = (row[at] ?? 0) - factor * (top[at] ?? 0);
    }
  }
  return rowsLeft.map((row, index) => (row.at(-1) ?? 0) / (row[index] ?? 1));
}
