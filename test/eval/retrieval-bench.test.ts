import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ktx, ktxJson } from '../cli/run-cli.ts';

const gold = join(import.meta.dirname, '../../examples/demo-evals/retrieval.yaml');
const base = mkdtempSync(join(tmpdir(), 'ktx-bench-demo-'));
const dir = join(base, 'demo');
beforeAll(async () => {
  const { code, stderr } = await ktx(['demo', '--tour', '--dir', dir], { cwd: base });
  if (code !== 0) throw new Error(stderr);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

interface Retrieval {
  readonly questions: number;
  readonly figures: readonly {
    name: string;
    recall: { value: number; low: number };
    questions: number;
  }[];
  readonly misses: readonly { question: string; name: string; missing: string[] }[];
}

async function measure(file: string) {
  const args = ['bench', '--no-model', '--gold', file, '--out', join(base, 'out')];
  const { code, envelope } = await ktxJson(args, { cwd: dir });
  const { retrieval } = (envelope.data ?? {}) as { retrieval?: Retrieval };
  return { code, error: envelope.error, retrieval };
}

/** Pinned from below: whoever makes search better raises them. */
const atLeast = {
  'tables, first 5 hits': 0.87,
  'tables, first 10 hits': 0.9,
  'tables, first 20 hits': 0.92,
  'columns, first 10 fields': 0.82,
  'columns, first 20 fields': 0.85,
  joins: 1,
  'values, first 5 matches': 1,
};

describe('ktx bench --no-model', () => {
  test('finds as much of what questions about the demo need as it did', async () => {
    const { code, retrieval } = await measure(gold);
    expect(code).toBe(0);
    expect(retrieval?.questions).toBeGreaterThanOrEqual(60);
    const figures = retrieval?.figures ?? [];
    const low = figures.filter(
      ({ name, recall }) => recall.value < (atLeast[name as keyof typeof atLeast] ?? 2),
    );
    expect(low).toEqual([]);
    expect(figures.map(({ name }) => name).sort()).toEqual(Object.keys(atLeast).sort());
    const joins = figures.find(({ name }) => name === 'joins');
    expect(joins?.questions).toBeGreaterThan(30);
    // All of them found says that most are found, not that all ever will be.
    expect(joins?.recall.low).toBeLessThan(1);
    expect(joins?.recall.low).toBeGreaterThan(0.8);
    const page = readFileSync(join(base, 'out/bench.html'), 'utf8');
    expect(page).toContain('<h2>Retrieval without a model</h2>');
    expect(page).not.toMatch(/<script|<img|src=/);
    expect(readFileSync(join(base, 'out/bench.md'), 'utf8')).toMatch(/\| joins \| 100 % /);
    expect(JSON.parse(readFileSync(join(base, 'out/bench.json'), 'utf8'))).toMatchObject({
      retrieval: { questions: retrieval?.questions },
    });
  });

  test('counts what is not there as not found, and names it', async () => {
    const file = join(base, 'few.yaml');
    writeFileSync(
      file,
      `questions:
  - question: 'zzz <zzq>& | qqq'
    columns: [orders.amount]
    joins: [{from: orders.amount, to: regions.rgn_cd}, {from: orders.buyer_id, to: customers.id}]
    values: [{text: nowhere, field: regions.rgn_nm}, {text: DACH, field: regions.rgn_nm}]
`,
    );
    const { retrieval } = await measure(file);
    const shares = Object.fromEntries(
      (retrieval?.figures ?? []).map(({ name, recall }) => [name, recall.value]),
    );
    expect(shares).toMatchObject({
      'tables, first 20 hits': 0,
      'columns, first 20 fields': 0,
      joins: 0.5,
      'values, first 5 matches': 0.5,
    });
    expect(retrieval?.misses).toContainEqual({
      question: 'zzz <zzq>& | qqq',
      name: 'joins',
      missing: ['orders.amount = regions.rgn_cd'],
    });
    expect(readFileSync(join(base, 'out/bench.html'), 'utf8')).toContain('zzz &lt;zzq&gt;&amp;');
    const [row] = /^\| zzz.*$/m.exec(readFileSync(join(base, 'out/bench.md'), 'utf8')) ?? [];
    expect(row).toContain(String.raw`zzz &lt;zzq>& \| qqq`);
  });

  test.for([
    ['questions: []', 'gold_invalid'],
    ['questions: [{question: Q, columns: [orders]}]', 'gold_invalid'],
    ['questions: [{question: Q, columns: [orders.amuont]}]', 'gold_unknown'],
  ] as const)('%s is refused', async ([text, code]) => {
    const file = join(base, 'bad.yaml');
    writeFileSync(file, text);
    const { code: exit, error } = await measure(file);
    expect([exit, error?.code]).toEqual([2, code]);
  });

  test('does not write through a link of the project', async () => {
    const outside = join(base, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(dir, 'ktx-bench'));
    const { code, envelope } = await ktxJson(['bench', '--no-model', '--gold', gold], { cwd: dir });
    expect([code, envelope.error?.code]).toEqual([2, 'path_outside_project']);
    expect(readdirSync(outside)).toEqual([]);
    rmSync(join(dir, 'ktx-bench'));
  });

  test('needs a file', async () => {
    const { code, envelope } = await ktxJson(['bench', '--no-model'], { cwd: dir });
    expect([code, envelope.error?.code]).toEqual([2, 'usage']);
    expect((await measure('none.yaml')).error?.code).toBe('file_not_found');
  });
});
