import { describe, expect, test } from 'vitest';
import { parseQueryFile } from '../../src/eval/cases/parse-query-file.ts';
import { parseLookml } from '../../src/semantic/formats/lookml/parse.ts';
import { splitSqlParts } from '../../src/sql/sql-parts.ts';
import { sqlitePolicy } from '../../src/warehouse/drivers/sqlite/policy.ts';
import { readDocBlocks } from '../../src/sources/dbt/files/doc-blocks.ts';
import { jinjaTags, parseJinjaCall, renderTemplate } from '../../src/sources/dbt/files/jinja.ts';
import { needsReading, readInlineConfig } from '../../src/sources/dbt/files/models/model-sql.ts';
import { parseTableFormula } from '../../src/sources/documents/parse-table-formula.ts';
import { readHtml } from '../../src/sources/documents/read-html.ts';
import { readMarkdown } from '../../src/sources/documents/read-markdown.ts';
import { openSource } from '../../src/sources/registry.ts';

const size = 200_000;
/** A quadratic reader takes thousands of times as long at this size. */
const highestRatio = 25;
/** Below this, a measurement is noise. In milliseconds. */
const shortest = 40;

const fill = (part: string, length = size) =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length);
const half = (part: string) => fill(part, size / 2);

/** CPU time in milliseconds, which other processes do not disturb. */
function cpuTime(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

interface Reader {
  readonly read: (text: string) => unknown;
  readonly benign: string;
  readonly hostile: Readonly<Record<string, string>>;
}

const page =
  'Some plain words with a [link](x.md) and *emphasis*.\n\n' +
  '| Term | Meaning |\n|---|---|\n| `a` | b |\n\n';

const readers: Readonly<Record<string, Reader>> = {
  Markdown: {
    read: readMarkdown,
    benign: fill(page),
    hostile: {
      'open brackets': fill('['),
      'nested brackets': half('[') + half(']'),
      'open links': fill('[a]('),
      images: fill('![['),
      emphasis: fill('*a '),
      'nested emphasis': fill('*a **a '),
      'strong without end': fill('**a'),
      'marks in words': fill('a**b'),
      underscores: fill('_a __'),
      backticks: Array.from({ length: 630 }, (_, index) => `e${'`'.repeat(index)}`).join(''),
      'open code': fill('`a '),
      'open tags': fill('<a '),
      'open comments': fill('<!--'),
      'open comments of MDX': fill('{/*'),
      'open comments in paragraphs': fill('<!-- a\n\n'),
      quotes: fill('>'),
      'lines of quotes': fill('> > > > > > > > > > > > a\n'),
      lists: fill('- '),
      'indented lists': Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}- a\n`).join(''),
      pipes: fill('|'),
      'wide tables': `${fill('|a', 50_000)}\n${fill('|-', 50_000)}\n${half('|a')}`,
      'link targets': half('[a]: b\n') + half('[a] '),
      entities: fill('&a'),
      'front matter': `---\n${fill('a: b\n')}`,
      'lines of import': fill('import a '),
      'underlined lines': fill('a\n'),
    },
  },
  HTML: {
    read: readHtml,
    benign: fill('<h2>Orders</h2>\n<p>Some words.</p><table><tr><td>a</td></tr></table>\n'),
    hostile: {
      'open tags': fill('<a '),
      'open comments': fill('<!--'),
      divisions: fill('<div>'),
      'divisions with other ends': half('<div>') + half('</a>'),
      formatting: half('<b>') + half('</p>'),
      tables: fill('<table><tr><td>'),
      scripts: fill('<script>'),
      'hidden elements': fill('<svg>'),
      entities: fill('&amp'),
      'space in entities': fill('&#32;'),
      'open attributes': fill('<a b="'),
      attributes: `<a ${fill('b c ')}>`,
      'signs of less': fill('<'),
      declarations: fill('<!doctype '),
    },
  },
  Jinja: {
    read: (text) => renderTemplate(text, () => 'x'),
    benign: fill("select {{ ref('orders') }} from {# words #} {% if x %} a {% endif %}\n"),
    hostile: {
      'open expressions': fill('{{'),
      'open statements': fill('{% docs '),
      'open comments': fill('{#'),
      'open expressions with one end': `${fill('{{ ')}}}`,
      'open lists': `{{ f(${half('[')}${half(']')}) }}`,
      'open calls': `{{ ${fill('f(')} }}`,
      quotes: `{{ f(${fill("'")}) }}`,
    },
  },
  'doc blocks': {
    read: (body) => readDocBlocks({ key: 'a.md', path: 'a.md', body }),
    benign: fill('{% docs a %}\nwords about a thing\n{% enddocs %}\n'),
    hostile: {
      'open blocks': fill('{% docs a %}'),
      'open statements': fill('{% docs '),
      'short blocks': fill('{% docs a %}{% enddocs %}'),
    },
  },
  'calls of dbt': {
    read: (text) => [readInlineConfig(text), parseJinjaCall(text), needsReading(text)],
    benign: fill("{{ config(alias='x') }} select * from a where b\n"),
    hostile: {
      'open configs': fill('{{ config('),
      'one config of many': `{{ config(${fill('a=[')}) }}`,
      spaces: fill('group     '),
    },
  },
  'files of queries': {
    read: parseQueryFile,
    benign: fill("-- how many\nselect count(*) from orders where a = 'b';\n\n"),
    hostile: {
      words: fill('select a '),
      comments: fill('/* a */ '),
      'open comments': fill('/*'),
      'comments of lines': fill('--a\n'),
      'empty lines': `/*${fill('\n')}*/ select 1`,
      stars: `/*${fill('*')} a */ select 1`,
      'open tags': Array.from({ length: size / 8 }, (_, index) => `$t${index}$ `).join(''),
      spaces: `${fill(' ')}x`,
      statements: fill('a;'),
    },
  },
  'parts of SQL': {
    read: (text) => [...splitSqlParts(text, { hasBrackets: true, hasDollarQuotes: true })],
    benign: fill('select [a], "b", `c` from d where e = \'f\' -- g\n'),
    hostile: {
      brackets: fill('['),
      'open comments': fill('/*'),
      quotes: fill("'"),
      'open quotes': fill('a"\'`'),
      dollars: fill('$'),
      'open tags': Array.from({ length: size / 8 }, (_, index) => `$t${index}$ `).join(''),
    },
  },
  formulas: {
    read: (text) => parseTableFormula(text, text),
    benign: `sum(${fill('orders.amount + ')} 1)`,
    hostile: {
      parentheses: `sum${fill('(')}`,
      quotes: `sum(${fill("'")})`,
      'open quotes': `sum(a) where ${fill("'a ")}`,
      dots: `sum(${fill('a.')})`,
      words: `sum(${fill('a')})`,
    },
  },
};

describe.each(Object.entries(readers))('%s', (_, { read, benign, hostile }) => {
  read(benign);
  const usual = Math.max(
    shortest,
    cpuTime(() => read(benign)),
  );

  test.each(Object.entries(hostile))('in linear time: %s', (_name, text) => {
    expect(text.length).toBeGreaterThan(size * 0.8);
    expect(cpuTime(() => read(text)) / usual).toBeLessThan(highestRatio);
  });
});

test('a whole document is read in linear time, tables and names included', async () => {
  const source = await openSource({ driver: 'docs', path: '.' });
  const extract = (body: string) =>
    source.extract([{ key: 'a.md', path: 'a.md', body }], {
      connection: 'handbook',
      catalogs: new Map(),
    });
  extract(fill(page));
  const usual = Math.max(
    shortest,
    cpuTime(() => extract(fill(page))),
  );
  const table = `| Term | Meaning | Formula |\n|---|---|---|\n${fill('| a `b | c `` | sum(( |\n')}`;
  expect(cpuTime(() => extract(table)) / usual).toBeLessThan(highestRatio);
});

test('what is nested too deep is named, and the rest is read', async () => {
  const source = await openSource({ driver: 'docs', path: '.' });
  const deep = `${'>'.repeat(100_000)} inside\n\nSix words that stand after the quote.\n`;
  const wide = `${'<div>'.repeat(100_000)}Six words that stand inside of them.`;
  const extractions = source.extract(
    [
      { key: 'deep.md', path: 'deep.md', body: deep },
      { key: 'wide.html', path: 'wide.html', body: wide },
    ],
    { connection: 'handbook', catalogs: new Map() },
  );
  expect(extractions.map(({ problems }) => problems)).toEqual([
    [
      {
        location: 'line 1',
        reason: 'quotes and lists are nested more than 100 levels deep; what is inside is not read',
      },
    ],
    [],
  ]);
  expect(extractions.map(({ unread }) => unread?.map(({ text }) => text))).toEqual([
    ['Six words that stand after the quote.'],
    ['Six words that stand inside of them.'],
  ]);
});

test('lists in a call are literals up to a depth', () => {
  const listOf = (depth: number) => `f(${'['.repeat(depth)}1${']'.repeat(depth)})`;
  expect(parseJinjaCall(listOf(3))?.positional).toEqual([[[[1]]]]);
  expect(parseJinjaCall(listOf(50_000))).toBeUndefined();
  expect(jinjaTags(`{{ ${listOf(50_000)} }}`)).toHaveLength(1);
});

test.each(['[', '$a', 'select [a', "'a"])(
  'the gate of SQLite looks at %s in linear time',
  async (part) => {
    const inspect = async (text: string) => {
      const start = process.cpuUsage();
      await Promise.try(() => sqlitePolicy.inspect(text)).catch(() => undefined);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    await inspect('select 1');
    const usual = Math.max(shortest, await inspect(`select ${fill('a, ', 90_000)} b`));
    expect((await inspect(fill(part, 99_000))) / usual).toBeLessThan(highestRatio);
  },
);

test('LookML that is nested too deep is an error with its line', () => {
  expect(() => parseLookml('view: a {'.repeat(100_000))).toThrow('end of a block expected');
});
