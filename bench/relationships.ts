import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateDatabase } from './relationships/generate/schema-generator.ts';
import type { GeneratedDatabase } from './relationships/generated-database.ts';
import { writeDatabase } from './relationships/write-database.ts';
import { heldOut } from './relationships/held-out.ts';
import { scoreLarge } from './relationships/large.ts';
import { obscured, queryLog } from './relationships/logs.ts';
import { publicSeen, publicUnseen } from './relationships/public-schemas.ts';
import { shapesSeen } from './relationships/shapes-seen.ts';
import { shapesUnseen } from './relationships/shapes-unseen.ts';
import {
  calibrationError,
  f1,
  fixtureDatabase,
  scanFile,
  scoreOf,
  total,
  withoutDeclarations,
  type Score,
} from './relationships/score.ts';

/**
 * `npm run bench:relationships [-- --details]` scores relationship discovery against known keys and
 * links: on real databases, hand-written schemas, public schemas with made rows and generated
 * schemas, with all keys hidden (by a flag, and in a copy that declares none) and with primary keys
 * known. The coefficients are trained on other generated schemas, and on the schemas "to develop
 * with". `--large` first scans star schemas of millions of rows and prints time and memory. Exits
 * with 1 if knowing the primary keys makes a database's score worse.
 */
const details = process.argv.includes('--details');
if (process.argv.includes('--large')) await printLarge();
const dir = mkdtempSync(join(tmpdir(), 'ktx-relationships-'));
try {
  const real = ['chinook', 'northwind', 'sakila'].map((name) => ({
    name,
    ...fixtureDatabase(name, dir),
  }));
  const score = async (copy: boolean, ignored: 'all' | 'links' | undefined): Promise<Score[]> => {
    const scores: Score[] = [];
    for (const { name, path, truth } of real)
      scores.push(
        scoreOf(name, await scanFile(copy ? withoutDeclarations(path) : path, ignored), truth),
      );
    return scores;
  };
  const hiddenReal = await score(false, 'all');
  print('real databases, all keys hidden (--ignore-declared all)', hiddenReal);
  print('real databases, copies that declare nothing', await score(true, undefined));
  const knownReal = await score(false, 'links');
  print('real databases, primary keys known (--ignore-declared links)', knownReal);
  noWorse(hiddenReal, knownReal);
  const made = (schemas: Readonly<Record<string, () => GeneratedDatabase>>) =>
    Object.entries(schemas).map(([name, make]) => [name, make()] as const);
  const seeds = Array.from(
    { length: Number(process.env['KTX_BENCH_SEEDS'] ?? 40) },
    (_, index) => 5000 + index,
  );
  const sets = [
    ['hand-written schemas', made(heldOut)],
    ['shapes to develop with', made(shapesSeen)],
    ['shapes that were only scored', made(shapesUnseen)],
    ['public schemas to develop with', made(publicSeen)],
    ['public schemas that were only scored', made(publicUnseen)],
    [
      'generated schemas of held-out seeds',
      seeds.map((seed) => [String(seed), generateDatabase(seed)] as const),
    ],
  ] as const;
  for (const [what, schemas] of sets) {
    const isShown = details || schemas.length < 20;
    const hidden = await scoreGenerated(schemas, 'all');
    print(`${what}, all keys hidden`, isShown ? hidden : [], hidden);
    const known = await scoreGenerated(schemas, 'links');
    print(`${what}, primary keys known`, isShown ? known : [], known);
    noWorse(hidden, known);
  }
  const obscure = [...made(shapesSeen), ...made(shapesUnseen)].map(
    ([name, schema]) => [name, obscured(schema)] as const,
  );
  const shown = (scores: readonly Score[]): readonly Score[] => (details ? scores : []);
  for (const [what, log] of [
    ['no query log', undefined],
    ['a query log', 'good'],
    ['a query log of wrong joins', 'poor'],
  ] as const) {
    const scores = await scoreGenerated(obscure, 'links', log);
    print(
      `hand-written shapes under names that say nothing, primary keys known, ${what}`,
      shown(scores),
      scores,
    );
  }
} finally {
  rmSync(dir, { recursive: true });
}

async function printLarge(): Promise<void> {
  const scores = await scoreLarge();
  print('stars of millions of rows, all keys hidden', scores);
  for (const { name, seconds, megabytes } of scores)
    console.log(`  ${name}: ${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB`);
}

/** Fails the command for a database whose score is worse with its primary keys known. */
function noWorse(hidden: readonly Score[], known: readonly Score[]): void {
  for (const [index, score] of known.entries()) {
    const before = f1(hidden[index] ?? score);
    if (f1(score) >= before) continue;
    console.log(
      `  ${score.name} is worse with primary keys known: F1 ${f1(score).toFixed(3)}, not ${before.toFixed(3)}`,
    );
    process.exitCode = 1;
  }
}

type Named = readonly (readonly [string, GeneratedDatabase])[];

async function scoreGenerated(
  schemas: Named,
  ignored: 'all' | 'links',
  log?: 'good' | 'poor',
): Promise<Score[]> {
  const scores: Score[] = [];
  for (const [name, schema] of schemas) {
    const path = join(dir, `${name}.sqlite`);
    writeDatabase(path, schema, ignored === 'all' ? 'nothing' : 'keys');
    const logs = log === undefined ? [] : [join(dir, `${name}.sql`)];
    for (const file of logs) writeFileSync(file, queryLog(schema, log ?? 'good'));
    scores.push(scoreOf(name, await scanFile(path, ignored, logs), schema.truth));
    rmSync(path);
  }
  return scores;
}

function print(title: string, shown: readonly Score[], scores = shown): void {
  const sum = total(scores);
  const rows = [
    ['', 'precision', 'recall', 'F1', 'keys', 'statements', 'bound', 'calibration error'],
    ...shown.map((score) => row(score.name, score, score.judged)),
    row(
      'micro',
      sum,
      scores.flatMap(({ judged }) => judged),
    ),
  ];
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? [];
  console.log(`\n${title}`);
  for (const cells of rows)
    console.log(
      `  ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`,
    );
  if (!details) return;
  for (const { name, missed, wrong, wrongKeys } of scores) {
    for (const text of missed) console.log(`    ${name}: missed ${text}`);
    for (const text of wrong) console.log(`    ${name}: wrong ${text}`);
    for (const text of wrongKeys) console.log(`    ${name}: key ${text}`);
  }
}

function row(name: string, sum: ReturnType<typeof total>, judged: Score['judged']): string[] {
  const share = (part: number, whole: number): string =>
    whole === 0 ? '-' : (part / whole).toFixed(3);
  return [
    name,
    share(sum.hits, sum.accepted),
    share(sum.hits, sum.links),
    f1(sum).toFixed(3),
    share(sum.keyHits, sum.keys),
    String(sum.queries),
    String(sum.bound),
    calibrationError(judged).toFixed(3),
  ];
}
