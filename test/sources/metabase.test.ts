import { existsSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runQuery } from '../../src/project/answer/query.ts';
import { openProject } from '../../src/project/open/open.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { ktx } from '../cli/run-cli.ts';
import { apiKey, startMetabase } from '../recorded/metabase/server.ts';
import { run, write } from '../store/git-project.ts';
import { lookmlProject, openShop } from './lookml-project.ts';

let dir: string;
let server: Awaited<ReturnType<typeof startMetabase>>;

const env = { METABASE_KEY: apiKey };

/** Without LookML: Metabase alone speaks about the database. */
async function metabaseProject(baseUrl: string): Promise<string> {
  const folder = await lookmlProject();
  write(
    folder,
    'ktx.yaml',
    `connections:\n  shop: {driver: duckdb, path: warehouse.duckdb}\n  bi:\n    driver: metabase\n    base_url: ${baseUrl}\n    api_key: env:METABASE_KEY\n    databases: {"3": shop}\n`,
  );
  run(folder, 'commit', '-qam', 'metabase');
  return folder;
}

interface IngestReport {
  readonly commit: Readonly<Record<string, unknown>>;
  readonly sources: readonly {
    readonly items?: {
      readonly added: readonly string[];
      readonly changed: readonly string[];
      readonly gone: readonly string[];
      readonly failed: readonly { readonly key: string }[];
    };
    readonly failure?: { readonly code: string };
  }[];
}

async function ingest(given: Record<string, string> = env) {
  const { code, stdout } = await ktx(['ingest', '--json'], { cwd: dir, env: given });
  const { data } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as { data: IngestReport };
  return { code, stdout, commit: data.commit, source: data.sources[0] };
}

const commits = () => run(dir, 'rev-list', '--count', 'HEAD').trim();
const text = (path: string) => readFileSync(`${dir}/${path}`, 'utf8');

beforeAll(loadAnalyzer);
beforeEach(async () => {
  server = await startMetabase();
  dir = await metabaseProject(server.url);
});
afterEach(async () => {
  await server.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('Metabase over the sample company', () => {
  test('gives the numbers of SQL by hand, and the facts of its fields', async () => {
    const { code, source, stdout } = await ingest();
    expect(stdout).toContain(String.raw`if it is shop, set databases: {\"7\": shop} in ktx.yaml`);
    expect(source?.items?.failed).toEqual([]);
    expect(code).toBe(0);
    const shop = await openShop(dir);
    const project = await openProject(dir);
    try {
      const byHand = {
        'orders.paid_revenue': "SELECT sum(amount) FROM orders WHERE status = 'paid'",
        'orders.orders_that_still_count':
          "SELECT count(*) FROM orders WHERE amount > 200 AND status IS DISTINCT FROM 'cancelled'",
      };
      for (const [metric, sql] of Object.entries(byHand)) {
        const query = querySchema.parse({ metrics: [metric] });
        const { rows } = await runQuery(project, { query }, AbortSignal.timeout(20_000));
        const [expected] = await shop.rows(sql);
        expect(Number(rows[0]?.[0]), metric).toBeCloseTo(Number(expected?.[0]), 6);
      }
    } finally {
      await project.close();
      await shop.close();
    }
    const orders = text('semantic-layer/shop/orders.yaml');
    expect(orders).toContain('One row per order.');
    expect(orders).toContain('Order total');
    expect(orders).not.toContain('revenue_last_month');
    expect(orders).toContain('OR status IS NULL');
    const claims = text('claims/shop/orders.jsonl');
    expect(claims).toContain('"subject":"relationship:shop.orders(buyer_id)"');
    expect(claims).toContain('sources/bi/cards/3.jsonl');
    const wiki = text('claims/wiki.jsonl');
    expect(wiki).toContain('dataset:shop.customers');
    expect(text('wiki/exposures.md')).toContain('Returned "orders" 🙃 (Metabase question 4)');
    expect(existsSync(`${dir}/sources/bi/cards/7.jsonl`)).toBe(false);
    expect(text('sources/bi/databases/3.jsonl')).not.toContain('hunter2');
  });

  test('changes nothing when nothing has changed, and one item when one has', async () => {
    await ingest();
    server.world.cards.set(1, { ...card(1), view_count: 99_999 });
    const before = commits();
    const again = await ingest();
    expect(again.code).toBe(0);
    expect(again.commit).toEqual({ none: 'unchanged' });
    expect(again.source?.items).toMatchObject({ added: [], changed: [], gone: [] });
    expect(commits()).toBe(before);
    server.world.cards.set(1, { ...card(1), description: 'What was paid, after refunds.' });
    const changed = await ingest();
    expect(changed.source?.items).toMatchObject({ changed: ['cards/1.jsonl'], gone: [] });
    expect(text('semantic-layer/shop/orders.yaml')).toContain('after refunds');
  });

  test('loses nothing to a page or a question that fails, and a deleted question later', async () => {
    await ingest();
    server.world.cards.delete(1);
    server.faults.push({ match: /collection\/3\/items.*offset=2/, times: 1, status: 500 });
    server.faults.push({ match: /api\/card\/2$/, times: 1, status: 403 });
    // Two cards in Finance are one page: a third makes a second.
    server.world.cards.set(9, { ...card(2), id: 9, name: 'Third' });
    const broken = await ingest();
    expect(broken.code).toBe(3);
    expect(broken.source?.items?.gone).toEqual([]);
    expect(text('sources/bi/cards/1.jsonl')).toContain('Paid revenue');
    const whole = await ingest();
    expect(whole.code).toBe(0);
    expect(whole.source?.items?.gone).toEqual(['cards/1.jsonl']);
    expect(text('semantic-layer/shop/orders.yaml')).not.toContain('paid_revenue');
  });

  test('refuses with exit 4 where the key is refused, and names the command that mends it', async () => {
    await ingest();
    const refused = await ktx(['connection', 'test', 'bi'], {
      cwd: dir,
      env: { METABASE_KEY: 'mb_expired' },
    });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('ktx connection test bi');
    expect(refused.stderr).not.toContain('mb_expired');
    const failed = await ingest({ METABASE_KEY: 'mb_expired' });
    expect(failed.source?.failure?.code).toBe('login_refused');
    expect(text('sources/bi/cards/1.jsonl')).toContain('Paid revenue');
  });

  test('is added by a command, which writes the reference and no key', async () => {
    const flags = ['--driver', 'metabase', '--base-url', server.url, '--api-key'];
    const added = await ktx(['connection', 'add', 'second', ...flags, 'env:METABASE_KEY'], {
      cwd: dir,
      env,
    });
    expect(added.code).toBe(0);
    expect(added.stdout).toContain('logged in as ktx');
    expect(added.stderr).toContain(
      'database 7 Scratch (postgres at db.fernholm.example/scratch) is not mapped',
    );
    expect(added.stdout + added.stderr).not.toContain('hunter');
    expect(text('ktx.yaml')).toContain('env:METABASE_KEY');
    expect(text('ktx.yaml')).not.toContain(apiKey);
    const literal = await ktx(['connection', 'add', 'third', ...flags, apiKey], { cwd: dir, env });
    expect(literal.code).toBe(2);
  });
});

function card(id: number) {
  const found = server.world.cards.get(id);
  if (found === undefined) throw new Error(`no card ${id}`);
  return found;
}
