import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseClaims } from '../../src/context/claims/claims-file.ts';
import { parseDatasetFile } from '../../src/context/merge/merge-dataset.ts';
import { listSections } from '../../src/context/wiki/page-sections.ts';
import { parseQueryFile } from '../../src/eval/cases/parse-query-file.ts';
import { findQuote } from '../../src/ingest/extract/proposals/find-quote.ts';
import { UserError } from '../../src/lib/error.ts';
import { readLocatedYaml } from '../../src/lib/yaml/located-yaml.ts';
import { parseYaml } from '../../src/lib/yaml/parse-yaml.ts';
import { untrustedBlock } from '../../src/lib/untrusted.ts';
import { readQueryLogs } from '../../src/scan/history/read-query-logs.ts';
import { indexText, nameKey } from '../../src/search/words.ts';
import { readLookml } from '../../src/semantic/formats/lookml/read.ts';
import { parseLookml } from '../../src/semantic/formats/lookml/parse.ts';
import { readDocBlocks } from '../../src/sources/dbt/files/doc-blocks.ts';
import { jinjaTags, parseJinjaCall, renderTemplate } from '../../src/sources/dbt/files/jinja.ts';
import { needsReading, readInlineConfig } from '../../src/sources/dbt/files/models/model-sql.ts';
import { parseProjectFile } from '../../src/sources/dbt/files/project-file.ts';
import { reduceArtifact } from '../../src/sources/dbt/artifacts/reduce-artifact.ts';
import { openSource } from '../../src/sources/registry.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { duckdb } from '../../src/sql/dialects/duckdb.ts';
import { mysql } from '../../src/sql/dialects/mysql.ts';
import { parseFragment } from '../../src/sql/fragment.ts';
import { splitSqlParts } from '../../src/sql/sql-parts.ts';
import { duckdbPolicy } from '../../src/warehouse/drivers/duckdb/policy.ts';
import { openReader } from '../../src/warehouse/drivers/duckdb/reader.ts';
import { mysqlPolicy } from '../../src/warehouse/drivers/mysql/policy.ts';
import { sqlitePolicy } from '../../src/warehouse/drivers/sqlite/policy.ts';
import { emptyPostgresPolicy } from '../support/empty-postgres.ts';
import { never } from '../support/warehouses.ts';
import { createGate } from '../../src/warehouse/gate/gate.ts';

const size = 1_000_000;
/** For readers that are linear and slow. */
const smallSize = 250_000;
/** The length that the gate lets through; fragments are in files that people review. */
const sqlSize = 99_000;
/** A quadratic reader takes thousands of times as long as usual at this size. */
const highestRatio = 40;
/** From this ratio on, the time must not grow faster than the text. */
const doubtfulRatio = 10;
/** Of the time for the whole to that for its half: 2 when linear, 4 when quadratic. */
const highestGrowth = 3;
/** In milliseconds, so that a fast reader is not measured against noise. */
const shortest = 400;

const fill = (part: string, length: number) =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length);

const repeated = [
  '[',
  '(',
  '{',
  ']',
  '<a ',
  '<!--',
  '<div>',
  '</',
  '&a',
  '{{',
  '{{ ',
  '{%',
  '{% docs ',
  '{#',
  '{{ f(',
  '/*',
  '/* a */ ',
  '--a\n',
  '-',
  '- ',
  "'",
  "'a",
  '"',
  '"a ',
  '`a',
  '$',
  '$a$ $b',
  'a: ',
  ':',
  ' ',
  '\t',
  '\n',
  ' \n',
  '\r\n',
  '|',
  '|a',
  '#',
  '# a\n',
  '## a\n',
  '*',
  '*a ',
  '**a',
  '_a',
  '>',
  '![',
  '[a](',
  '~~~\n',
  '```\n',
  'a: 1\n',
  '---\na: 1\n',
  '? ',
  '!!str ',
  '%',
  '\\',
  ';',
  'a;',
  'select 1;\n',
  'aA1',
  'a',
  'a.',
  '1.',
  'É́',
  '\u00a0',
  '{"a":[',
  '[1,',
  'view: a {',
  'sql: a ',
  'a: "',
  'select ',
  'case when ',
  'not ',
  'f(',
  'a,',
  '(select * from ',
];

/** Texts of a length that are hostile to some reader. */
const hostileTexts = (length: number): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(repeated.map((part) => [JSON.stringify(part), fill(part, length)])),
  'nested brackets': fill('[', length / 2) + fill(']', length / 2),
  '100,000 parentheses':
    fill('(', Math.min(length / 2, 50_000)) + fill(')', Math.min(length / 2, 50_000)),
  'parentheses around a value':
    fill('(', Math.min(length / 2, 45_000)) + `1${fill(')', Math.min(length / 2, 45_000))}`,
  'nested mappings': fill('{a: ', length / 2) + fill('}', length / 2),
  'space and a word': `${fill(' ', length)}x`,
  'a billion laughs': `a0: &a0 [x, x]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [${fill(`*a${i},`, 60)}1]\n`).join('')}`,
  anchors: Array.from({ length: length / 20 }, (_, i) => `a${i}: &b${i} 1\n`).join(''),
  aliases: `a: &a [1, 2]\nb:\n${fill('- *a\n', length)}`,
  merges: `a: &a {b: 1}\nc:\n${fill('  <<: *a\n', length)}`,
  keys: Array.from({ length: length / 14 }, (_, i) => `k${i}: ${i}\n`).join(''),
  tags: Array.from({ length: length / 9 }, (_, i) => `$t${i}$ `).join(''),
  stairs: Array.from({ length: Math.sqrt(length * 2) }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
});

const folder = mkdtempSync(join(tmpdir(), 'ktx-linear-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const readLog = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return readQueryLogs([name], folder);
};
const gateOf = (policy: Parameters<typeof createGate>[0]) => {
  const loadTables = async () => Promise.resolve([{ schema: 'main', table: 'orders' }]);
  return createGate(policy, { dialect: duckdb, allowedFunctions: [], loadTables });
};
const duckdbReader = openReader({ path: ':memory:', options: {}, settings: [] });
// Opened before the readers, which keep this process busy for longer than a statement may take.
const duckdbGate = gateOf(await duckdbPolicy(duckdbReader, never));
afterAll(() => duckdbReader.close());
const extract = async (driver: 'docs' | 'metricflow' | 'dbt', key: string, body: string) => {
  const source = await openSource({ driver, path: '.' });
  const item = (path: string, text: string) => ({ key: path, path, body: text });
  const items = [
    item(key, body),
    ...(driver === 'dbt' ? [item('dbt_project.yml', 'name: a\n')] : []),
  ];
  return source.extract(items, { connection: 'c', catalogs: new Map() });
};
const file = { file: 'a.yaml', code: 'invalid', hint: '' };
const schema = z.strictObject({ a: z.string() });
const yaml = 'models:\n  - name: a\n    description: words about it\n    columns: [{name: b}]\n';

type Read = (text: string) => unknown;
/** Each reader with a part of an ordinary text. */
const readers: Readonly<Record<string, readonly [read: Read, benign: string, length?: number]>> = {
  'pages of documents': [
    (text) => extract('docs', 'a.md', text),
    '## Words\n\nSome *words*, `a`.\n\n| a | b |\n|---|---|\n| c | d |\n\n',
  ],
  'documents in HTML': [
    (text) => extract('docs', 'a.html', text),
    '<h2>Orders</h2><p>Some words.</p>\n',
  ],
  'models of dbt': [
    (text) => extract('dbt', 'models/a.sql', text),
    "select {{ ref('a') }} from b\n",
  ],
  'YAML of dbt': [(text) => extract('dbt', 'models/a.yml', text), yaml],
  'pages of dbt': [
    (text) => extract('dbt', 'models/a.md', text),
    '{% docs a %}\nwords\n{% enddocs %}\n',
  ],
  'project of dbt': [parseProjectFile, yaml],
  'YAML of MetricFlow': [(text) => extract('metricflow', 'a.yml', text), yaml],
  Jinja: [
    (text) => [renderTemplate(text, () => 'x'), jinjaTags(text), parseJinjaCall(text)],
    '{{ a }} b\n',
  ],
  'doc blocks': [
    (body) => readDocBlocks({ key: 'a.md', path: 'a.md', body }),
    '{% docs a %}\nb\n{% enddocs %}\n',
  ],
  'SQL of dbt': [
    (text) => [readInlineConfig(text), needsReading(text)],
    "{{ config(a='b') }} select c\n",
  ],
  manifest: [(text) => reduceArtifact('manifest', text), '{"metadata": {}, "nodes": {}}'],
  'texts in a manifest': [
    (text) =>
      reduceArtifact(
        'manifest',
        JSON.stringify({ metadata: {}, nodes: { a: { description: text, raw_code: text } } }),
      ),
    'words ',
  ],
  'located YAML': [readLocatedYaml, yaml],
  'YAML of ktx': [(text) => parseYaml(schema, { ...file, text }), yaml],
  'semantic files': [parseDatasetFile, yaml],
  claims: [(text) => parseClaims('claims/a/b.jsonl', text), '{"a": 1}\n', smallSize],
  'wiki pages': [(text) => listSections('a', text, new Map()), '## Words\n\nabout it\n'],
  quotes: [
    (text) => [findQuote(text, `${text.slice(0, 5000)} x`), findQuote(text, text)],
    'some words ',
    smallSize,
  ],
  marks: [(text) => untrustedBlock(text, text), 'some words '],
  'words of the index': [(text) => [indexText([text]), nameKey(text)], 'some words ', smallSize],
  'SQL of LookML': [
    (text) =>
      readLookml(
        [{ file: 'a', text: `view: v { dimension: d { sql: ${text.replaceAll(';;', '')} ;; } }` }],
        { dialect: duckdb },
      ),
    '${TABLE}.a + ',
    sqlSize,
  ],
  LookML: [parseLookml, 'view: a { dimension: b { type: string sql: ${TABLE}.b ;; } }\n'],
  'files of queries': [parseQueryFile, '-- how many\nselect count(*) from orders;\n\n'],
  'query logs': [(text) => readLog('a.sql', text), 'select count(*) from orders;\n'],
  'query logs in JSON': [(text) => readLog('a.jsonl', JSON.stringify({ sql: text })), 'select 1 '],
  'parts of SQL': [
    (text) => [...splitSqlParts(text, { hasBrackets: true, hasDollarQuotes: true })],
    "a 'b' [c] -- d\n",
  ],
  'expressions of fields': [
    (text) => parseFragment(text, { dialect: duckdb } as Parameters<typeof parseFragment>[1]),
    'a + ',
    sqlSize,
  ],
  'gate of SQLite': [
    (text) => gateOf(sqlitePolicy).check(text),
    'select a, b from orders union ',
    sqlSize,
  ],
  'gate of Postgres': [
    (text) => gateOf(emptyPostgresPolicy()).check(text),
    'select a, b from orders union ',
    sqlSize,
  ],
  // Its parser runs in another process, whose time is limited; this is the time of ktx.
  'gate of DuckDB': [(text) => duckdbGate.check(text), 'select a, b from orders union ', sqlSize],
  'gate of MySQL': [
    (text) => gateOf(mysqlPolicy(mysql, [])).check(text),
    'select a, b from orders union ',
    sqlSize,
  ],
};

/**
 * CPU time in milliseconds, which other processes do not disturb. An error that a person can fix is
 * an answer.
 */
async function cpuTime(read: Read, text: string): Promise<number> {
  const start = process.cpuUsage();
  try {
    await read(text);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw error;
    expect(error).toBeInstanceOf(error instanceof UserError ? UserError : Error);
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/**
 * Whether a text and its like of half the length show a reader that is not linear. `usual` in
 * milliseconds. Each time is the shorter of two, because of other work on the machine.
 */
async function isSlow(read: Read, text: string, { half, usual }: { half: string; usual: number }) {
  const shorterOfTwo = async (tried: string) =>
    Math.min(await cpuTime(read, tried), await cpuTime(read, tried));
  const time = await shorterOfTwo(text);
  if (time / usual >= highestRatio) return true;
  return time / usual >= doubtfulRatio && time / (await shorterOfTwo(half)) >= highestGrowth;
}

beforeAll(loadAnalyzer);

describe.each(Object.entries(readers))('%s', (_, [read, benign, length = size]) => {
  test('takes no hostile text for long', async () => {
    await cpuTime(read, benign);
    const usual = Math.max(shortest, await cpuTime(read, fill(benign, length)));
    const slow: string[] = [];
    const halves = hostileTexts(length / 2);
    for (const [name, text] of Object.entries(hostileTexts(length))) {
      const time = await cpuTime(read, text);
      if (time / usual < doubtfulRatio) continue;
      if (await isSlow(read, text, { half: halves[name] as string, usual }))
        slow.push(`${name}: ${Math.round(time)} of ${Math.round(usual)} ms`);
    }
    expect(slow).toEqual([]);
  });
});
