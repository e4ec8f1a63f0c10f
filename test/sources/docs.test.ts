import { describe, expect, test } from 'vitest';
import { isUnreviewed } from '../../src/context/claims/claim.ts';
import { openSource } from '../../src/sources/registry.ts';

const column = (name: string, type: 'integer' | 'string') =>
  ({ name, nativeType: type, type, nullable: true }) as const;
const orders = {
  schema: 'main',
  table: 'orders',
  kind: 'table',
  columns: [column('id', 'integer'), column('amount', 'integer'), column('status', 'string')],
  uniqueKeys: [],
  foreignKeys: [],
};
const catalog = { connection: 'shop', dialect: 'sqlite', firstSchema: 'main', tables: [orders] };

/**
 * Subject, kind and body of each claim, with the line that says so; and the texts that wait for a
 * model.
 */
async function read(key: string, body: string) {
  const source = await openSource({ driver: 'docs', path: '.' });
  const [found] = source.extract([{ key, path: key, body }], {
    connection: 'handbook',
    catalogs: new Map([['shop', catalog]]),
  });
  const claims =
    found?.claims.map(({ subject, kind, body: said, evidence }) => [
      subject,
      kind,
      said,
      evidence[0]?.location,
    ]) ?? [];
  return {
    claims,
    unread: found?.unread?.map(({ text }) => text) ?? [],
    mentions: found?.mentions,
    extraction: found,
  };
}

const metric = (of: object, line: number) => [
  'metric:shop.orders.sales',
  'metric',
  of,
  `line ${line}`,
];

describe('a document', () => {
  test.each([
    [
      "sum(amount) where status = 'paid'",
      'orders',
      { agg: 'sum', of: 'amount', where: "status = 'paid'" },
    ],
    ['`SUM( orders.amount )`', '', { agg: 'sum', of: 'amount' }],
    ['count(*)', 'main.orders', { agg: 'count' }],
    ['count(distinct orders.status)', '', { agg: 'count_distinct', of: 'status' }],
    ['avg(abs(amount) + 1)', 'orders', { agg: 'avg', of: 'abs(amount) + 1' }],
    [
      "sum(orders.amount) where orders.status = 'a.b'",
      '',
      { agg: 'sum', of: 'amount', where: "status = 'a.b'" },
    ],
  ])('reads the formula %s', async (formula, table, body) => {
    const { claims } = await read(
      'a.md',
      `| Metric | Formula | Table |\n|---|---|---|\n| Sales | ${formula} | ${table} |\n`,
    );
    expect(claims).toContainEqual(metric(body, 3));
  });

  test.each([
    'revenue divided by orders',
    'sum(*)',
    'sum(distinct amount)',
    'sum(orders.amount) / sum(items.price)',
    'sum(a.x + b.y)',
    'sum(amount',
    '',
  ])('leaves what is no formula of one dataset to a model: %s', async (formula) => {
    const { claims, unread } = await read(
      'a.md',
      `| Metric | Formula | Table |\n|---|---|---|\n| Sales | ${formula} | nowhere |\n`,
    );
    expect(claims.map(([subject]) => subject)).toEqual(['term:sales']);
    expect(unread).toHaveLength(formula === '' ? 0 : 1);
  });

  test('in HTML says the same, with the lines of the file', async () => {
    const html = `<!doctype html><head><title>x</title><script>"<table>"</script></head>\n<h2>orders</h2>\n<table>\n<thead><tr><th>Column</th><th>Description</th></tr></thead>\n<tr><td></td><td>none</td></tr>\n<tr><td><code>amount</code></td><td>in &euro; &amp; cents</td></tr></table><p>Some words that nobody but a model can read.`;
    const { claims, unread, mentions } = await read('a.html', html);
    expect(claims).toEqual([['field:shop.orders.amount', 'description', 'in € & cents', 'line 6']]);
    expect(unread).toEqual(['orders: Some words that nobody but a model can read.']);
    expect(mentions).toContain('dataset:shop.orders');
  });

  test('leaves out rows that their table calls deprecated, and counts drafts less', async () => {
    const text =
      '| Term | Definition | Status |\n|---|---|---|\n| Old | No longer. | Deprecated since 2024 |\n| New | Not yet. | In review |\n| Now | Today. | Approved |\n';
    const { claims, extraction } = await read('a.md', text);
    expect(new Set(claims.map(([subject]) => subject))).toEqual(new Set(['term:new', 'term:now']));
    const confidences = extraction?.claims.map((claim) => claim.evidence[0]?.confidence);
    expect(confidences).toEqual([0.6, 0.6, 0.9, 0.9]);
    expect(extraction?.leftOut).toEqual([
      { location: 'line 3', what: 'row that its table calls out of use' },
    ]);
  });

  test.each([
    ['Begriff | Bedeutung | Formel | Status', 'Veraltet seit 2024', 'In Prüfung'],
    ['Terme | Définition | Mode de calcul | État', 'Obsolète', 'En cours de validation'],
    ['Término | Descripción | Fórmula | Estado', 'Obsoleto', 'Borrador'],
    ['Termine | Significato | Formula | Stato', 'Deprecato', 'Bozza'],
    ['Termo | Definição | Fórmula | Situação', 'Obsoleto', 'Em revisão'],
    ['Begrip | Betekenis | Berekening | Status', 'Vervallen', 'Concept'],
    ['Pojęcie | Znaczenie | Wzór | Status', 'Nieaktualne', 'W trakcie'],
    ['Показатель | Описание | Формула | Статус', 'Устарел', 'Черновик'],
    ['指标 | 定义 | 计算公式 | 状态', '已废弃', '草稿'],
    ['用語 | 説明 | 計算式 | ステータス', '廃止', '草案'],
  ])('reads a table with the titles %s', async (header, outOfUse, draft) => {
    const rows = [
      `| ${header} |`,
      '|---|---|---|---|',
      `| Old | No longer. | sum(orders.id) | ${outOfUse} |`,
      `| New | Not yet. | | ${draft} |`,
      '| Sales | Money. | sum(orders.amount) | OK |',
    ];
    const { claims, extraction } = await read('a.md', `${rows.join('\n')}\n`);
    expect(new Set(claims.map(([subject]) => subject))).toEqual(
      new Set(['term:new', 'term:sales', 'metric:shop.orders.sales']),
    );
    const ofDraft = extraction?.claims.filter(({ subject }) => subject === 'term:new');
    expect(ofDraft?.map((claim) => claim.evidence[0]?.confidence)).toEqual([0.6, 0.6]);
  });

  test.each([
    ['sum(amount) - sum(id)', { expr: 'sum(amount) - sum(id)' }],
    [
      '`Total(orders.amount) ÷ count( distinct orders.id)`',
      { expr: 'sum(amount) / count(distinct id)' },
    ],
    [
      '100 * sum(amount) / nullif(count(*), 0)',
      { expr: '100 * sum(amount) / nullif(count(*), 0)' },
    ],
    [
      "sum(amount) - 2.5 * sum(id) where status = 'paid'",
      { expr: 'sum(amount) - 2.5 * sum(id)', where: "status = 'paid'" },
    ],
  ])('reads the arithmetic %s as a metric that nobody has accepted', async (formula, body) => {
    const { extraction, claims } = await read(
      'a.md',
      `| Metric | Formula | Table |\n|---|---|---|\n| Sales | ${formula} | orders |\n`,
    );
    expect(claims).toContainEqual(metric(body, 3));
    const found = extraction?.claims.filter(({ kind }) => kind === 'metric') ?? [];
    expect(found.map(isUnreviewed)).toEqual([true]);
    expect(extraction?.leftOut ?? []).toEqual([]);
  });

  test.each([
    ['amount / id', 'orders', 'formula without an aggregate such as sum(…)'],
    ['sum(amount) - tax', 'orders', 'formula that code cannot read'],
    ['sum(amount) - random()', 'orders', 'formula that code cannot read'],
    ['sum(orders.amount) / sum(items.price)', '', 'formula over several tables'],
    ['sum(amount) - sum(id)', 'nowhere', 'formula over no table that ktx knows'],
  ])('says that %s of %s did not arrive, and why', async (formula, table, what) => {
    const { extraction, unread } = await read(
      'a.md',
      `| Metric | Formula | Table |\n|---|---|---|\n| Sales | ${formula} | ${table} |\n`,
    );
    expect(extraction?.leftOut).toEqual([{ location: 'line 3', what, name: `Sales: ${formula}` }]);
    expect(unread).toHaveLength(1);
  });

  test('other names beside a formula are those of the metric, too', async () => {
    const { claims } = await read(
      'a.md',
      '| Metric | Formula | Also |\n|---|---|---|\n| Net sales | `sum(orders.amount)` | MAR, income |\n',
    );
    const synonyms = claims.filter(([, kind]) => kind === 'synonyms');
    expect(synonyms.map(([subject, , said]) => [subject, said])).toEqual([
      ['term:net_sales', ['MAR', 'income']],
      ['metric:shop.orders.net_sales', ['MAR', 'income']],
    ]);
  });

  test('reads rules, synonyms and links, and neither front matter nor code', async () => {
    const text =
      '---\ntitle: x and y and z and more words\n---\n```\n| Term | Definition |\n|---|---|\n| no | no |\n```\n' +
      '| Rule | Description |\n|---|---|\n| Refunds first | See [`orders`](orders.md). |\n\n| Term | Meaning | Also |\n|---|---|---|\n| **Net** | What is _left_. | rest, remainder |\n';
    const { claims, unread } = await read('a.mdx', text);
    expect(claims.map(([subject, kind, said]) => [subject, kind, said])).toEqual([
      ['rule:refunds_first', 'title', 'Refunds first'],
      ['rule:refunds_first', 'rule', 'See `orders`.'],
      ['rule:refunds_first', 'refs', ['dataset:shop.orders']],
      ['term:net', 'title', 'Net'],
      ['term:net', 'definition', 'What is left.'],
      ['term:net', 'synonyms', ['rest', 'remainder']],
    ]);
    expect(unread).toEqual([]);
  });
});
