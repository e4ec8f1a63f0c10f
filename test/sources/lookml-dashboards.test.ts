import { existsSync, readFileSync, rmSync, globSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isRecord, parseJson } from '../../src/lib/json.ts';
import { readLocatedYaml } from '../../src/lib/yaml/located-yaml.ts';
import { lookml } from '../../src/sources/lookml/source.ts';
import { runQuery } from '../../src/project/answer/query.ts';
import { openProject } from '../../src/project/open/open.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { ktx } from '../cli/run-cli.ts';
import { lookmlProject, openShop, readTexts } from './lookml-project.ts';

let dir: string;
let shop: Awaited<ReturnType<typeof openShop>>;

beforeAll(async () => {
  await loadAnalyzer();
  dir = await lookmlProject();
  shop = await openShop(dir);
});
afterAll(async () => {
  await shop.close();
  rmSync(dir, { recursive: true, force: true });
});

const file = 'views/weekly.dashboard.lookml';
const fixture = () =>
  Object.fromEntries(
    ['manifest.lkml', 'models/shop.model.lkml', 'views/orders.view.lkml', 'views/people.view.lkml']
      .concat(file)
      .map((key) => [key, readFileSync(`${dir}/looker/${key}`, 'utf8')]),
  );
const weekly = 'term:weekly_numbers_lookml_dashboard_weekly';

describe('a dashboard in LookML', () => {
  test('is a term with the tables behind it, and its queries give numbers', async () => {
    const { said } = readTexts(fixture(), [shop.catalog]);
    expect(said(weekly, 'refs')).toEqual([['dataset:shop.customers', 'dataset:shop.orders']]);
    const description = z.tuple([z.string()]).parse(said(weekly, 'description'));
    const [first, query = ''] = description[0].split('\n\n');
    expect(first).toBe('What the board sees on Mondays.');
    expect(parseJson(query.replace('Query: ', ''))).toEqual({
      metrics: ['orders.revenue'],
      dimensions: ['orders.placed_at.month', 'orders.buyer.cust_rgn'],
      where: [{ field: 'orders.status', op: '=', value: 'paid' }],
      order_by: [{ field: 'orders.placed_at.month', dir: 'desc' }],
      limit: 12,
    });
    expect(said('term:empty_lookml_dashboard_empty', 'title')).toEqual([
      'empty (LookML dashboard empty)',
    ]);
    await ktx(['connection', 'add', 'looker', '--driver', 'lookml', '--path', './looker'], {
      cwd: dir,
    });
    await ktx(['ingest', '--json'], { cwd: dir });
    const project = await openProject(dir);
    try {
      const asked = { query: querySchema.parse(parseJson(query.replace('Query: ', ''))) };
      const { rows } = await runQuery(project, asked, AbortSignal.timeout(20_000));
      const own = await shop.rows(
        "SELECT sum(o.amount) FROM orders o LEFT JOIN customers c ON c.id = o.buyer_id WHERE o.status = 'paid' GROUP BY date_trunc('month', o.placed_at), c.cust_rgn ORDER BY date_trunc('month', o.placed_at) DESC LIMIT 12",
      );
      expect(rows.length).toBe(own.length);
    } finally {
      await project.close();
    }
    const explained = await ktx(['explain', weekly, '--json'], { cwd: dir });
    expect(explained.stdout).toContain(`sources/looker/${file}`);
  });

  test('names with its line what ktx cannot ask, and leaves texts to a model', () => {
    const items = Object.entries(fixture()).map(([key, body]) => ({ key, path: key, body }));
    const extractions = lookml.extract(items, {
      connection: 'looker',
      config: { driver: 'lookml', path: '.' },
      catalogs: new Map([['shop', shop.catalog]]),
    });
    const own = extractions.find(({ key }) => key === file);
    expect(own?.leftOut).toEqual([
      {
        location: 'line 20',
        what: 'query that ktx cannot ask',
        name: 'dashboard weekly: ktx cannot tell what orders.placed_at.day: “7 days” means',
      },
    ]);
    expect(own?.unread).toEqual([
      {
        location: 'line 27',
        what: 'prose',
        text: 'How to read it\n\nTakings are what was paid.',
      },
    ]);
  });

  test.each([
    ['a: [', /left out: it is not valid YAML/],
    ['- title: Without a name', /left out: it is no dashboard with a name/],
    ['just words', /left out: it is no dashboard with a name/],
  ])('that cannot be read is named: %s', (text, problem) => {
    const { problems, claims } = readTexts({ [file]: text }, [shop.catalog]);
    expect(claims).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });
});

const [shared] = ['../../../shared/', '../../../../shared/']
  .map((path) => new URL(`${path}data/sources/lookml/`, import.meta.url).pathname)
  .filter((path) => existsSync(path));

test.runIf(shared !== undefined)(
  'every dashboard that companies wrote is a term, or its file is named',
  () => {
    const root = shared ?? '';
    const texts = Object.fromEntries(
      globSync('**/*.dashboard.{lkml,lookml}', { cwd: root }).map((path) => [
        relative('.', path),
        readFileSync(`${root}/${path}`, 'utf8'),
      ]),
    );
    const { claims, problems } = readTexts(texts, [shop.catalog]);
    const terms = claims.filter(({ kind }) => kind === 'title');
    const readable = Object.values(texts).map((text) => readLocatedYaml(text));
    const written = readable.flatMap((yaml) => ('broken' in yaml ? [] : yaml.documents.flat()));
    const broken = readable.filter((yaml) => 'broken' in yaml);
    process.stdout.write(
      `${Object.keys(texts).length} files: ${terms.length} of ${written.length} dashboards read, ${broken.length} files that are not YAML, ${problems.length} named\n`,
    );
    expect(Object.keys(texts).length).toBeGreaterThan(10);
    expect(terms.length).toBe(
      written.filter((entry) => isRecord(entry) && entry['dashboard'] !== undefined).length,
    );
    expect(problems.length).toBe(written.length - terms.length + broken.length);
  },
);
