import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ktx } from '../cli/run-cli.ts';
import { openModelEndpoint } from '../support/model-endpoint.ts';
import { reading } from '../support/reading-model.ts';
import { approve } from '../support/approve.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const base = mkdtempSync(join(tmpdir(), 'ktx-demo-'));
const dir = join(base, 'ktx-demo');
/** `node` in a command line is the one that runs the tests. */
const env = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
};

const askedSchema = z.object({
  sql: z.string(),
  total: z.number(),
  by_region: z.array(z.object({ region: z.string().nullable(), revenue: z.number() })),
});
const envelopeSchema = z.object({
  ok: z.literal(true),
  data: z.object({
    unchanged: z.boolean(),
    made: z.array(z.string()),
    found: z.object({
      tables: z.array(z.string()),
      links: z.array(
        z.object({
          from: z.object({ table: z.string(), columns: z.array(z.string()) }),
          to: z.object({ table: z.string() }),
          status: z.string(),
        }),
      ),
    }),
    edit: z.object({ file: z.string(), added: z.array(z.string()) }),
    ingest: z.array(z.object({ commit: z.object({ id: z.string().optional() }) })),
    told: z.array(z.object({ subject: z.string(), says: z.string(), place: z.string() })),
    contested: z.object({
      subject: z.string(),
      versions: z.array(z.object({ by: z.string(), gives: z.number() })),
    }),
    read: z.object({ pending: z.array(z.string()) }),
    answer: z.object({
      sql: z.string(),
      rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))),
    }),
    comparison: z.object({
      table_total: z.number(),
      semantic_layer: askedSchema,
      inner_join: askedSchema,
      wrong_role: askedSchema,
    }),
    next: z.array(z.string()),
  }),
});

/** What the demo prints, and what its tour prints. */
let outcome: string;
let first: string;
let second: z.infer<typeof envelopeSchema>['data'];
let afterFirst: { head: string; status: string };

/** As a newcomer in a clone starts it. */
async function demoFromClone(...flags: string[]): Promise<string> {
  const args = ['run', '-s', 'demo', '--', '--dir', dir, ...flags];
  return (await promisify(execFile)('npm', args, { cwd: root, env })).stdout;
}

async function demoAsJson(): Promise<string> {
  const args = ['src/cli/main.ts', 'demo', '--dir', dir, '--tour', '--json'];
  return (await promisify(execFile)(process.execPath, args, { cwd: root, env })).stdout;
}

function shell(command: string): string {
  return execFileSync(command, {
    cwd: root,
    env,
    shell: true,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: dir, encoding: 'utf8' });
}

const state = () => ({ head: git('rev-parse', 'HEAD'), status: git('status', '--porcelain=v1') });

async function rows(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(join(dir, 'warehouse.duckdb'), {
    access_mode: 'READ_ONLY',
  });
  try {
    const connection = await instance.connect();
    const found = (await connection.runAndReadAll(sql)).getRowsJson();
    connection.closeSync();
    return found;
  } finally {
    instance.closeSync();
  }
}

/** By hand: every paid order once, under its buyer's region if there is one. */
const byHand = `
  SELECT (SELECT r.rgn_nm FROM customers c, regions r WHERE c.id = o.buyer_id AND r.rgn_cd = c.cust_rgn) AS region,
         strftime(o.placed_at, '%Y-%m') AS month, CAST(sum(o.amount) AS VARCHAR) AS revenue
  FROM orders o WHERE o.status = 'paid' GROUP BY 1, 2`;

describe('ktx demo', () => {
  beforeAll(async () => {
    outcome = await demoFromClone();
    first = await demoFromClone('--tour');
    afterFirst = state();
    second = envelopeSchema.parse(JSON.parse(await demoAsJson())).data;
  });

  afterAll(() => rmSync(base, { recursive: true }));

  it('makes a project with warehouse, datasets, claims and one commit', () => {
    for (const path of [
      'warehouse.duckdb',
      'ktx.yaml',
      'semantic-layer/shop/orders.yaml',
      'claims/shop/orders.jsonl',
    ])
      expect(existsSync(join(dir, path)), path).toBe(true);
    expect(git('rev-list', '--count', 'HEAD').trim()).toBe('1');
    expect(git('ls-files').split('\n')).toContain('semantic-layer/shop/legacy__orders.yaml');
  });

  it('shows the wrong SQL and the two truths first, in forty lines', () => {
    const lines = outcome.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines[0]).toBe('1  The same question in SQL: it runs, and the answer is wrong');
    expect(lines.findIndex((line) => line.startsWith('2  One metric'))).toBeLessThan(25);
    expect(lines.filter((line) => line.length > 100 && !line.includes('npm run'))).toEqual([]);
    const [, ending = ''] = outcome.split('\nNext\n');
    expect(ending).toMatch(/look at it +.* web --open/);
    const commands = ending
      .trim()
      .split('\n')
      .map((line) => /npm run -s ktx -- .*/.exec(line)?.[0]);
    expect(commands).toHaveLength(5);
    for (const command of commands.slice(0, 2)) expect(shell(command ?? 'false')).not.toBe('');
  });

  it('tells in its tour what it found, wrote, asked and what naive SQL says', () => {
    for (const words of [
      '16 tables',
      'orders(buyer_id)',
      'orphans',
      'semantic-layer/shop/',
      'SELECT',
      'inner join',
      'Try next',
    ])
      expect(first).toContain(words);
    expect(first).not.toContain('\u001b[');
    expect(first.split('\n').filter((line) => / +$/.test(line))).toEqual([]);
  });

  it('finds the roles, the self-reference, the composite key, the link from another schema', () => {
    const accepted = second.found.links
      .filter(({ status }) => status === 'accepted')
      .map(({ from, to }) => `${from.table}(${from.columns.join(',')}) ${to.table}`);
    expect(accepted).toEqual(
      expect.arrayContaining([
        'orders(buyer_id) customers',
        'orders(recipient_id) customers',
        'employees(manager_id) employees',
        'stock_moves(whs_cd,prod_cd) inventory',
        'customer_profile(customer_id) customers',
        'customers(cust_rgn) regions',
        'legacy.orders(customer_id) customers',
        'product_tags(tag_id) tags',
      ]),
    );
  });

  it('shows what dbt and the handbook say, each with its line', () => {
    for (const { place } of second.told) {
      const [, file = '', line = ''] = /^(\S+) line (\d+)$/.exec(place) ?? [];
      expect(
        readFileSync(join(dir, file), 'utf8').split('\n').length,
        place,
      ).toBeGreaterThanOrEqual(Number(line));
    }
    const said = Object.fromEntries(second.told.map(({ subject, says }) => [subject, says]));
    expect(said).toMatchObject({
      'dataset:shop.orders': expect.stringMatching(/^One row per order/) as unknown,
      'metric:shop.orders.average_order': 'revenue / orders_placed',
      'term:gift': 'An order whose recipient is not its buyer.',
    });
  });

  it('shows both numbers of the contested metric, as one gets them by hand', async () => {
    const sum = async (where: string) =>
      Number((await rows(`SELECT sum(amount) FROM orders WHERE ${where}`))[0]?.[0]);
    const [paid, kept] = [await sum("status = 'paid'"), await sum("status <> 'cancelled'")];
    expect(second.contested).toEqual({
      subject: 'metric:shop.orders.revenue',
      versions: [
        expect.objectContaining({ by: 'dbt', gives: paid }),
        expect.objectContaining({ by: 'handbook', gives: kept }),
      ] as unknown,
    });
    for (const number of [paid, kept])
      expect(first).toContain(Math.round(number).toLocaleString('en'));
  });

  it('shows where LookML disagrees with dbt, with both numbers by hand', async () => {
    for (const text of [outcome, first])
      expect(text).toContain('LookML and dbt also count tickets.urgent_tickets');
    const listed = JSON.parse((await ktx(['review', 'list', '--json'], { cwd: dir })).stdout) as {
      data: { conflicts: { subject: string; variants: { says: object }[] }[] };
    };
    const conflict = listed.data.conflicts.find(
      ({ subject }) => subject === 'metric:shop.tickets.urgent_tickets',
    );
    expect(listed.data.conflicts).toHaveLength(2);
    expect(conflict?.variants).toMatchObject([
      { says: { where: "priority = 'high'" }, evidence: [expect.stringContaining('dbt')] },
      {
        says: { where: "priority = 'high' and is_open" },
        evidence: [expect.stringContaining('looker/tickets.view.lkml line 8')],
      },
    ]);
    const numbers = await rows(
      "SELECT count(*), count(*) FILTER (closed_at IS NULL) FROM tickets WHERE priority = 'high'",
    );
    const given = conflict?.variants.map(
      (variant) => (variant as { number?: { value?: unknown } }).number?.value,
    );
    expect(given?.map(Number)).toEqual(numbers[0]?.map(Number));
  });

  it('says what waits for a model', () => {
    expect(second.read.pending).toContain('sources/handbook/returns.md');
    expect(first).toMatch(/demo --dir \S+ --llm claude-code/);
  });

  it('keeps the metric that the edit added, with its comment, uncommitted', () => {
    const text = readFileSync(join(dir, second.edit.file), 'utf8');
    expect(text).toMatch(
      /^ *# What went to somebody else.*\n *- \{name: gifts, agg: count, where: recipient_id <> buyer_id\}$/m,
    );
    expect(git('diff', '--stat', '--', second.edit.file)).toContain('2 ++');
  });

  it('answers as the SQL that is written by hand', async () => {
    const key = ([region, month, revenue]: readonly unknown[]) =>
      `${String(region)} ${String(month).slice(0, 7)} ${Number(revenue).toFixed(2)}`;
    expect(second.answer.rows.map(key).sort()).toEqual((await rows(byHand)).map(key).sort());
    expect(second.answer.rows.length).toBeGreaterThan(100);
  });

  it('shows what the naive statements lose or misplace', async () => {
    const {
      table_total: total,
      semantic_layer: ours,
      inner_join: inner,
      wrong_role: wrong,
    } = second.comparison;
    expect(await rows(`SELECT sum(amount) FROM orders WHERE status = 'paid'`)).toEqual([
      [total.toFixed(2)],
    ]);
    expect(ours.total).toBe(total);
    expect(inner.total).toBeLessThan(0.93 * total);
    expect(wrong.total).toBe(total);
    expect(wrong.by_region).not.toEqual(ours.by_region);
  });

  it('changes nothing when it runs again', () => {
    expect(state()).toEqual(afterFirst);
    expect(second.unchanged).toBe(true);
    expect(second.made).toEqual([]);
    expect(second.ingest.every(({ commit }) => commit.id === undefined)).toBe(true);
  });

  it('goes to Ossie, into another project, and out again with the same bytes', async () => {
    const other = join(base, 'other');
    mkdirSync(other);
    copyFileSync(join(dir, 'ktx.yaml'), join(other, 'ktx.yaml'));
    await ktx(['sl', 'export', '--out', join(base, 'first.yaml')], { cwd: dir });
    await ktx(['sl', 'import', join(base, 'first.yaml')], { cwd: other });
    await ktx(['sl', 'export', '--out', join(base, 'second.yaml')], { cwd: other });
    const [out, again] = ['first.yaml', 'second.yaml'].map((name) =>
      readFileSync(join(base, name), 'utf8'),
    );
    expect(out).toContain('name: revenue');
    expect(again).toBe(out);
  });

  it('ends with commands that work as they are printed', () => {
    const [, ending = ''] = first.split('Try next\n');
    const commands = ending.trim().split(/\n\s*/);
    expect(commands).toHaveLength(6);
    for (const command of commands) {
      expect(command).toMatch(/^npm run -s ktx -- /);
      expect(shell(command)).not.toBe('');
    }
    expect(
      second.next.map((command) =>
        command.replace(/^node src\/cli\/main.ts /, 'npm run -s ktx -- '),
      ),
    ).toEqual(commands);
  });

  it('answers every query that the guide shows', () => {
    const guide = readFileSync(join(root, 'docs/semantic-layer.md'), 'utf8');
    const lines = guide
      .split('\n')
      .filter((line) => line.startsWith('ktx sl query') && !line.includes('--query-file'));
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines)
      shell(`node ${line.replace(/^ktx/, 'src/cli/main.ts')} --project-dir ${dir}`);
  });

  it('says what a model needs that is not configured, and changes nothing', async () => {
    const args = ['src/cli/main.ts', 'demo', '--dir', dir, '--llm', 'anthropic', '--json'];
    const failure = await promisify(execFile)(process.execPath, args, { cwd: root }).catch(
      (error: { code: number; stdout: string }) => error,
    );
    expect(failure).toMatchObject({ code: 2 });
    expect(JSON.parse(failure.stdout)).toMatchObject({
      error: { code: 'llm_not_configured', hint: expect.stringContaining(dir) as unknown },
    });
    expect(state()).toEqual(afterFirst);
  });

  it('goes on to read the prose with the model that its ktx.yaml names', async () => {
    const endpoint = await openModelEndpoint();
    endpoint.fallback = reading;
    try {
      const api = `{backend: anthropic, anthropic: {api_key: env:TEST_KEY, base_url: ${endpoint.url}/v1}}`;
      appendFileSync(
        join(dir, 'ktx.yaml'),
        `llm:\n  provider: ${api}\n  models: {default: claude-sonnet-4-6}\n`,
      );
      const args = ['src/cli/main.ts', 'demo', '--dir', dir, '--llm', 'anthropic', '--json'];
      await approve(dir, env);
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        cwd: root,
        env: { ...env, TEST_KEY: 'sk-made-up' },
      });
      expect(JSON.parse(stdout)).toMatchObject({
        data: {
          read: {
            pending: [],
            found: [
              {
                subject: expect.stringContaining('regular') as unknown,
                place: expect.stringMatching(/^handbook\/returns\.md line \d+$/) as unknown,
              },
            ],
          },
        },
      });
      const again = envelopeSchema.parse(JSON.parse(await demoAsJson())).data;
      expect([again.unchanged, again.read.pending]).toEqual([true, []]);
    } finally {
      await endpoint.close();
    }
  });

  it('refuses a folder that holds something else, a project of another database too', async () => {
    const project = join(base, 'project');
    mkdirSync(project);
    writeFileSync(
      join(project, 'ktx.yaml'),
      'connections: {shop: {driver: sqlite, path: app.db}}\n',
    );
    for (const taken of ['docs', project]) {
      const failure = await promisify(execFile)(
        process.execPath,
        ['src/cli/main.ts', 'demo', '--dir', taken, '--json'],
        {
          cwd: root,
        },
      ).catch((error: { code: number; stdout: string }) => error);
      expect(failure).toMatchObject({ code: 2 });
      expect(JSON.parse(failure.stdout)).toMatchObject({
        ok: false,
        error: { code: 'folder_not_empty' },
      });
    }
    expect(readdirSync(project)).toEqual(['ktx.yaml']);
  });
});
