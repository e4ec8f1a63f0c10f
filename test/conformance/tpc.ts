import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump, loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as readYaml } from 'yaml';
import { z } from 'zod';
import { emit } from '../../src/semantic/emit/emit.ts';
import { loadModel } from '../../src/semantic/load/load.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { createPlan } from '../../src/semantic/plan/plan.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { withAnalyzer } from '../../src/sql/analyzer.ts';
import { type Engine, engineWith, rowsOf } from './engines.ts';
import type { Table } from './seeded.ts';

type Row = readonly unknown[];

const questionSchema = z.strictObject({
  id: z.string(),
  question: z.string(),
  /**
   * Several where the published question is: each adds its rows. `label` stands before them,
   * `blank` puts NULL at places of a subtotal.
   */
  queries: z
    .array(
      z.strictObject({
        label: z.array(z.string()).default([]),
        blank: z.array(z.int()).default([]),
        ...querySchema.shape,
      }),
    )
    .min(1),
  sql: z.string(),
});
type Question = z.infer<typeof questionSchema>;

async function readQuestions(files: readonly string[]): Promise<readonly Question[]> {
  const texts = await Promise.all(files.map(async (file) => readFile(file, 'utf8')));
  return texts.flatMap((text) => z.array(questionSchema).parse(readYaml(text, { merge: true })));
}

/**
 * The ids of the questions, and those that the table of a README says are not expressed, in order.
 */
function accountedFor(questions: readonly Question[], readme: string): readonly string[] {
  const listed = readFileSync(readme, 'utf8').matchAll(/^\| (Q\d+) \|/gm);
  const ids = [...questions.map(({ id }) => id), ...[...listed].map(([, id = '']) => id)];
  return ids.toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
}

/** The model is one file with a document for each dataset. */
async function readModel(file: string, engine: Engine): Promise<SemanticModel> {
  const documents = z
    .array(z.looseObject({ dataset: z.string(), sql: z.undefined().optional() }))
    .parse(loadAll(await readFile(file, 'utf8')));
  const files = documents.map((document) => ({
    path: `${document.dataset}.yaml`,
    text: dump(document),
  }));
  const { tables } = await engine.warehouse.introspect({}, new AbortController().signal);
  const { model, diagnostics } = await loadModel({
    dialect: engine.warehouse.dialect,
    files,
    tables,
  });
  if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics, undefined, 1));
  return model;
}

/** DuckDB with the tables in it. */
async function engineOf(tables: Readonly<Record<string, Table>>): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), 'ktx-tpc-'));
  try {
    const statements = Object.entries(tables).map(async ([name, { columns, rows }]) => {
      const file = join(folder, `${name}.csv`);
      await writeFile(
        file,
        rows.map((row) => `${row.map((cell) => cell ?? '').join('|')}\n`).join(''),
      );
      return `CREATE TABLE ${name} (${columns}); COPY ${name} FROM '${file}' (DELIMITER '|', HEADER false, NULL '');`;
    });
    return await engineWith('duckdb', (await Promise.all(statements)).join('\n'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Benchmark {
  /** With model.yaml, the README, and files of questions. */
  readonly folder: string;
  /** Undefined while not all of them are accounted for. */
  readonly published: number | undefined;
  readonly tables: () => Readonly<Record<string, Table>>;
}

/** Asks each question twice: by metric queries, and by SQL. */
export async function runBenchmark(
  name: string,
  { folder, published = 0, tables }: Benchmark,
): Promise<void> {
  const at = (file: string): string => join(folder, file);
  const questions = await readQuestions(globSync(at('queries*.yaml')).toSorted());
  describe(name, () => {
    let engine: Engine;
    let model: SemanticModel;
    beforeAll(async () => {
      engine = await engineOf(tables());
      model = await readModel(at('model.yaml'), engine);
    });
    afterAll(async () => engine.close());

    test.runIf(published > 0)('every published query is answered or listed with the reason', () => {
      expect(accountedFor(questions, at('README.md'))).toEqual(
        Array.from({ length: published }, (_, index) => `Q${index + 1}`),
      );
    });

    test.each(questions)('$id $question', async (question) => {
      const expected = await rowsOf(engine, question.sql);
      expect(expected.flat().some((cell) => cell !== null && Number(cell) !== 0)).toBe(true);
      const actual = await answersTo(engine, model, question);
      expect(difference(actual, expected)).toEqual({ extra: [], missing: [] });
    });
  });
}

/** What the metric queries of a question give, one after the other. */
async function answersTo(
  engine: Engine,
  model: SemanticModel,
  { queries }: Question,
): Promise<readonly Row[]> {
  const parts = queries.map(async ({ label, blank, ...query }) => {
    const sql = emit(await withAnalyzer(() => createPlan(model, query)), engine.warehouse.dialect);
    const rows = await rowsOf(engine, sql);
    return rows.map((row) => [
      ...label,
      ...blank.reduce((cells: Row, place) => cells.toSpliced(place, 0, null), row),
    ]);
  });
  return (await Promise.all(parts)).flat();
}

/** The rows that only one side has, as multisets. */
export function difference(
  actual: readonly Row[],
  expected: readonly Row[],
): { readonly extra: readonly Row[]; readonly missing: readonly Row[] } {
  const left = [...actual];
  const missing = expected.filter((row) => {
    const found = left.findIndex(
      (other) =>
        other.length === row.length && other.every((cell, index) => isSame(cell, row[index])),
    );
    if (found !== -1) left.splice(found, 1);
    return found === -1;
  });
  return { extra: left, missing };
}

/** Exact, but for floating point: the exact numbers here have six decimals at most. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isNumber(one) || !isNumber(other)) return one === other;
  const [a, b] = [plain(one), plain(other)];
  if (![a, b].some((text) => /\.\d{7}|e/.test(text))) return a === b;
  return (
    Math.abs(Number(a) - Number(b)) <= 1e-9 * Math.max(Math.abs(Number(a)), Math.abs(Number(b)))
  );
}

function isNumber(cell: unknown): cell is string | number {
  return typeof cell === 'number' || (typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell));
}

/** Without the zeros that only tell the scale of a type. */
function plain(cell: string | number): string {
  const text = String(cell);
  return text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text;
}
