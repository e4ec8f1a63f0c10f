import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Claim } from '../../src/context/claims/claim.ts';
import { parseConflicts } from '../../src/context/compile/conflicts.ts';
import type { OpenSource } from '../../src/sources/registry.ts';
import { openSource } from '../../src/sources/registry.ts';
import type { FetchEvent, Item } from '../../src/sources/source.ts';
import { read, run, write } from '../store/git-project.ts';
import { copyOf, ingestHere, shopProject, stateOf } from './ingest-project.ts';

let dir: string;
beforeEach(() => {
  dir = shopProject();
});

const revenue = (formula: string) =>
  `| Metric | Definition | Formula |\n|---|---|---|\n| Revenue | ${formula} in words. | \`${formula}\` |\n`;

/** The documents in `docs/`, with the shop's warehouse scanned first or left as it stands. */
function withDocs(names: readonly string[] = ['shop'], config: { include?: string[] } = {}) {
  const open = () => openSource({ driver: 'docs', path: 'docs', ...config });
  const otherWarehouses = names.length === 0 ? ['shop'] : [];
  return ingestHere(dir, {
    names,
    otherWarehouses,
    sources: [{ name: 'handbook', open, secrets: () => '', isAsked: true }],
  });
}

/** A source whose far end is this list: items are `key: subject says`, in the order given. */
function scripted(listing: readonly FetchEvent[], extractor = 'scripted@1'): OpenSource {
  return {
    extractor,
    async *fetch() {
      yield* listing;
    },
    covers: (key) => !key.startsWith('elsewhere'),
    isConfiguration: (key) => key === 'frame',
    prepare: async () => undefined,
    extract: (items, { connection }) =>
      items.map((item) => ({ key: item.key, claims: claimsOf(item, connection), unread: [] })),
  };
}

function claimsOf({ key, path, body }: Item, connection: string): Claim[] {
  return body.split('\n').map((line) => {
    const [subject = '', said = ''] = line.split(' says ');
    const evidence = [
      {
        connection,
        origin: 'code',
        extractor: 'scripted@1',
        item: `sources/${connection}/${path}`,
        location: key,
        confidence: 1,
      },
    ] as const;
    return {
      subject,
      kind: subject.startsWith('term:') ? 'definition' : 'description',
      body: said,
      evidence,
    };
  });
}

const item = (key: string, body: string): FetchEvent => ({
  kind: 'item',
  key,
  path: `${key}.txt`,
  body,
});
const end = (listingComplete = true): FetchEvent => ({ kind: 'end', listingComplete });

function ingestListing(
  listing: readonly FetchEvent[],
  names: readonly string[] = [],
  allowEmpty = false,
) {
  const open = async () => scripted(listing);
  const sources = [{ name: 'told', open, secrets: () => '', isAsked: true }];
  return ingestHere(dir, {
    names,
    otherWarehouses: names.length === 0 ? ['shop'] : [],
    sources,
    allowEmpty,
  });
}

describe('documents', () => {
  test('become items, claims, terms and metrics, and the disagreement of two of them stays in the open', async () => {
    write(dir, 'docs/terms.md', revenue("sum(orders.amount) where status = 'paid'"));
    write(
      dir,
      'docs/deep/finance.html',
      '<table><tr><th>KPI<th>Formula</tr><tr><td>Revenue<td>sum(orders.amount)</tr></table>',
    );
    const report = await withDocs();
    expect(report).toMatchObject({
      exitCode: 0,
      quarantined: [],
      sources: [{ connection: 'handbook', total: 2 }],
    });
    expect(report.files.added).toEqual(
      expect.arrayContaining([
        'sources/handbook/deep/finance.html',
        'wiki/glossary.md',
        'conflicts.yaml',
      ]),
    );
    const conflicts = parseConflicts(read(dir, 'conflicts.yaml'));
    expect(conflicts.map(({ subject, variants }) => [subject, variants.length])).toEqual([
      ['metric:shop.orders.revenue', 2],
    ]);
    expect(read(dir, 'semantic-layer/shop/orders.yaml')).toContain(
      '{name: revenue, agg: sum, of: amount',
    );
    const again = await withDocs();
    expect(again).toMatchObject({ exitCode: 0, commit: { none: 'unchanged' }, conflicts: [{}] });
  });

  test('without the warehouse at hand stand on what git has of it', async () => {
    write(dir, 'docs/terms.md', revenue('sum(orders.amount)'));
    await withDocs();
    const before = stateOf(dir);
    expect(await withDocs([])).toMatchObject({ exitCode: 0, commit: { none: 'unchanged' } });
    expect(stateOf(dir)).toEqual(before);
  });

  test('with a formula on a column that does not exist are set aside, and the rest goes on', async () => {
    write(
      dir,
      'docs/terms.md',
      `${revenue('sum(orders.amuont)')}| Orders | | \`count(orders.id)\` |\n`,
    );
    const report = await withDocs();
    expect(report.exitCode).toBe(3);
    expect(report.quarantined).toMatchObject([{ subject: 'metric:shop.orders.revenue' }]);
    expect(read(dir, 'semantic-layer/shop/orders.yaml')).toContain(
      'name: orders, agg: count, of: id',
    );
  });

  test('with formulas that no file could hold lose those by name, in one run; the file stays whole', async () => {
    const rows = [
      'sum(amount * (select max(id) from customers))',
      'count(*) where exists (select 1 from coupons)',
      'sum("customers"."amount")',
      'sum(amount)',
    ];
    const table = rows.map((formula, index) => `| M${index} | In words. | ${formula} |\n`).join('');
    write(
      dir,
      'docs/terms.md',
      `## Orders\n\n| Metric | Definition | Formula |\n|---|---|---|\n${table}`,
    );
    const report = await withDocs();
    const left = new Map(
      report.quarantined.map(({ subject, location }) => [subject.split('.').at(-1), location]),
    );
    expect(left).toEqual(
      new Map([5, 6, 7].map((line) => [`m${line - 5}`, `sources/handbook/terms.md line ${line}`])),
    );
    expect(read(dir, 'semantic-layer/shop/orders.yaml').match(/name: m\d/g)).toEqual(['name: m3']);
    expect(await withDocs()).toMatchObject({
      exitCode: 3,
      commit: { none: 'unchanged' },
      quarantined: [{}, {}, {}],
    });
  });

  test('with the longest name that a file can have are read like others', async () => {
    const name = `docs/${'売'.repeat(84)}.md`;
    write(dir, name, revenue('sum(orders.amount)'));
    const report = await withDocs();
    expect(report.exitCode).toBe(0);
    expect(report.files.added).toContain(`sources/hand${name.replace('docs', 'book')}`);
    expect((await withDocs()).commit).toEqual({ none: 'unchanged' });
  });

  test('that lead out of their folder are not read', async () => {
    write(dir, 'docs/terms.md', revenue('sum(orders.amount)'));
    write(dir, 'secret.md', 'secret');
    symlinkSync(join(dir, 'secret.md'), join(dir, 'docs/leak.md'));
    const report = await withDocs();
    expect(report.exitCode).toBe(3);
    expect(report.sources[0]?.items?.failed).toMatchObject([{ key: 'leak.md' }]);
    expect(run(dir, 'ls-files', 'sources/handbook')).not.toContain('leak');
  });

  test('that a folder no longer has are gone; that a narrower scope leaves out, or a folder that is gone, are not', async () => {
    write(dir, 'docs/terms.md', revenue('sum(orders.amount)'));
    write(dir, 'docs/more.md', '| Term | Definition |\n|---|---|\n| Margin | What is left. |\n');
    await withDocs();
    await withDocs([], { include: ['terms.*'] });
    expect(read(dir, 'wiki/glossary.md')).toContain('## Margin');
    renameSync(join(dir, 'docs'), join(dir, 'docs2'));
    expect(await withDocs([])).toMatchObject({
      exitCode: 2,
      sources: [{ failure: { code: 'docs_not_found' } }],
    });
    expect(read(dir, 'wiki/glossary.md')).toContain('## Margin');
    mkdirSync(join(dir, 'docs'));
    renameSync(join(dir, 'docs2/terms.md'), join(dir, 'docs/terms.md'));
    const report = await withDocs([]);
    expect(report.files.removed).toEqual(['sources/handbook/more.md']);
    expect(read(dir, 'wiki/glossary.md')).not.toContain('## Margin');
    expect(read(dir, 'wiki/glossary.md')).toContain('## Revenue');
  });
});

describe('items', () => {
  const both = [
    item('a', 'term:margin says What is left.'),
    item('b', 'term:margin says What is left.\nterm:cost says What is paid.'),
    end(),
  ];

  test('that fail, or that a cut listing does not name, stay; what only they support goes with them, and not before', async () => {
    await ingestListing(both, ['shop']);
    const page = read(dir, 'wiki/glossary.md');
    const failing = await ingestListing([
      item('a', 'term:margin says What is left.'),
      { kind: 'failed', key: 'b', reason: '500' },
      end(),
    ]);
    expect(failing).toMatchObject({
      exitCode: 3,
      sources: [{ items: { failed: [{ key: 'b' }], gone: [] } }],
    });
    expect(await ingestListing([end(false)])).toMatchObject({
      exitCode: 3,
      sources: [{ items: { gone: [] } }],
    });
    expect(await ingestListing([])).toMatchObject({
      exitCode: 3,
      sources: [{ items: { gone: [] } }],
    });
    expect(read(dir, 'wiki/glossary.md')).toBe(page);
    expect(await ingestListing(both.slice(1))).toMatchObject({
      exitCode: 0,
      sources: [{ items: { gone: ['a'] } }],
    });
    expect(read(dir, 'wiki/glossary.md')).toBe(page);
    await ingestListing([item('a', 'term:margin says What is left.'), end()]);
    expect(read(dir, 'wiki/glossary.md')).toContain('## Margin');
    expect(read(dir, 'wiki/glossary.md')).not.toContain('## Cost');
    for (const listing of [[end()], [item('frame', 'term:frame says It.'), end()]]) {
      const emptied = {
        exitCode: 1,
        sources: [
          { failure: { code: 'source_emptied', hint: expect.stringContaining('--allow-empty') } },
        ],
      };
      expect(await ingestListing(listing)).toMatchObject({ ...emptied, files: { removed: [] } });
    }
    const last = await ingestListing([end()], [], true);
    expect(last.files.removed).toEqual([
      'claims/wiki.jsonl',
      'sources/told/a.txt',
      'sources/told/index.jsonl',
      'wiki/glossary.md',
    ]);
  });

  test('with paths that lead elsewhere, or to each other, are refused by name', async () => {
    const paths = ['../x', 'index.jsonl', '/etc/x', 'a//b', 'ok.txt', 'OK.txt', '.git/config'];
    const report = await ingestListing(
      [
        ...paths.map((path): FetchEvent => ({
          kind: 'item',
          key: path,
          path,
          body: 'term:x says y',
        })),
        end(),
      ],
      ['shop'],
    );
    expect(report.sources[0]?.items?.added).toEqual(['ok.txt']);
    expect(report.sources[0]?.items?.failed).toHaveLength(6);
  });

  test('in any order give the same bytes', async () => {
    const texts = [
      'term:a says one',
      'term:a says two',
      'dataset:shop.orders says one',
      'dataset:shop.orders says two\nterm:b says x',
      'term:c says y',
    ];
    const listing = texts.map((text, index) => item(`item${index}`, text));
    await ingestHere(dir);
    const start = dir;
    const outcomes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(listing, { minLength: listing.length }),
        async (shuffled) => {
          dir = copyOf(start);
          await ingestListing([...shuffled, end()]);
          const { files } = stateOf(dir);
          outcomes.add(JSON.stringify(files));
          rmSync(dir, { recursive: true });
          expect(outcomes.size).toBe(1);
        },
      ),
      { numRuns: 6 },
    );
    expect([...outcomes][0]).toContain('conflicts.yaml');
  });
});

describe('the wiki', () => {
  const listing = [
    item('a', 'term:margin says What is left.\nterm:cost says What is paid.'),
    end(),
  ];
  const page = 'wiki/glossary.md';

  test('keeps a section that a person changed, added or took out, and goes on with the others', async () => {
    await ingestListing(listing, ['shop']);
    const mine = read(dir, page)
      .replace('What is left.', 'What is left, after returns.')
      .replace(/## Cost[\s\S]*?(?=## |$)/, '');
    write(dir, page, `${mine}\n## Mine\n\n\`\`\`\n## no heading\n\`\`\`\n`);
    const report = await ingestListing([
      item('a', 'term:margin says Rest.\nterm:cost says What is paid.\nterm:new says Fresh.'),
      end(),
    ]);
    expect(report.keptEdits.map(({ path }) => path).sort()).toEqual([
      'glossary/cost',
      'glossary/margin',
      'glossary/mine',
    ]);
    const text = read(dir, page);
    for (const part of ['What is left, after returns.', '## Mine', '## no heading', '## New'])
      expect(text).toContain(part);
    expect(text).not.toContain('## Cost');
    expect(text).not.toContain('Rest.');
  });

  test('is not brought back where a person deleted the page', async () => {
    await ingestListing(listing, ['shop']);
    rmSync(join(dir, page));
    expect(
      await ingestListing([...listing.slice(0, 1), item('b', 'term:new says Fresh.'), end()]),
    ).toMatchObject({ exitCode: 0 });
    expect(run(dir, 'status', '--porcelain', 'wiki')).toContain('D wiki/glossary.md');
  });

  test('shows a contested term until a person writes the section, and again once something else is said', async () => {
    await ingestListing(
      [item('a', 'term:margin says One.'), item('b', 'term:margin says Two.'), end()],
      ['shop'],
    );
    expect(parseConflicts(read(dir, 'conflicts.yaml'))).toHaveLength(1);
    write(dir, page, read(dir, page).replace(/> Contested[\s\S]*$/, 'Mine.\n'));
    const settled = await ingestListing([
      item('a', 'term:margin says One.'),
      item('b', 'term:margin says Two.'),
      end(),
    ]);
    expect(settled.conflicts).toEqual([]);
    const third = await ingestListing([
      item('a', 'term:margin says One.'),
      item('b', 'term:margin says Three.'),
      end(),
    ]);
    expect(third.conflicts).toMatchObject([{ subject: 'term:margin' }]);
    expect(read(dir, page)).toContain('Mine.');
  });
});
