import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { load } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ktxJson } from '../cli/run-cli.ts';
import { approve } from '../support/approve.ts';

let base: string;
let dir: string;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'ktx-benchmarks-'));
  dir = join(base, 'project');
  mkdirSync(dir);
  write('project/ktx.yaml', 'connections:\n  mine: {driver: sqlite, path: ../dbs/Mine.sqlite}\n');
  for (const name of ['Mine', 'Brazilian_E_Commerce', 'bank_sales']) database(`dbs/${name}.sqlite`);
  database('dbs/nested/nested.sqlite');
  database('outside/outside.sqlite');
  database('dbs/unasked.sqlite');
  symlinkSync(join(base, 'outside/outside.sqlite'), join(base, 'dbs/outside.sqlite'));
  symlinkSync(join(base, 'outside'), join(base, 'dbs/linked'));
  await approve(dir);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(name: string, text: string): void {
  mkdirSync(dirname(join(base, name)), { recursive: true });
  writeFileSync(join(base, name), text);
}
function database(name: string): void {
  mkdirSync(dirname(join(base, name)), { recursive: true });
  const db = new DatabaseSync(join(base, name));
  db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)');
  db.close();
}

interface Imported {
  readonly added: readonly string[];
  readonly connections: readonly string[];
  readonly left: readonly { readonly what: string; readonly why: string }[];
  readonly missing: readonly { readonly database: string }[];
}
async function importFile(...args: readonly string[]) {
  const { code, envelope } = await ktxJson(['eval', 'import', ...args], { cwd: dir });
  return { code, error: envelope.error, ...(envelope.data as Imported) };
}
const casesOf = (set: string) =>
  (load(readFileSync(join(dir, `evals/${set}.yaml`), 'utf8')) as { cases: object[] }).cases;
const config = () => readFileSync(join(dir, 'ktx.yaml'), 'utf8');

/** Lines as `spider2-lite.jsonl` has them, with the files that stand beside it. */
function writeSpider2(lines: readonly object[]): void {
  write('lite/spider2-lite.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
  for (const id of ['local001', 'local002', 'local003', 'local004', 'local006'])
    write(`lite/evaluation_suite/gold/sql/${id}.sql`, 'SELECT count(*) AS n FROM t;\n');
  write('lite/resource/documents/RFM.md', '# RFM\n\nHow recent, how often, how much.\n');
  write('secret.sql', 'SELECT 4711');
}
const spider2 = (id: string, db: string, more: object = {}) => ({
  instance_id: id,
  db,
  question: `Count ${id}, please?`,
  external_knowledge: null,
  ...more,
});
const file = '../lite/spider2-lite.jsonl';
const attach = ['--add-connections', '../dbs'];

describe('the local part of Spider 2', () => {
  test('becomes cases with documents as evidence, on databases that are attached', async () => {
    writeSpider2([
      spider2('local001', 'Brazilian_E_Commerce', { external_knowledge: 'RFM.md' }),
      spider2('bq001', 'ga4'),
      spider2('sf_bq002', 'TCGA'),
      spider2('local002', 'bank_sales'),
      spider2('local005', 'bank_sales'),
      spider2('local006', 'bank_sales', { external_knowledge: 'gone.md' }),
      spider2('local/../../../secret', 'bank_sales'),
      spider2('local003', 'bank_sales', { external_knowledge: '../../../secret.sql' }),
      spider2('local004', 'nested'),
      { instance_id: 'local007' },
    ]);
    const before = config();
    const answer = await importFile(file, 'lite', ...attach);
    expect(answer).toMatchObject({
      code: 0,
      added: ['local001', 'local002', 'local004'],
      connections: ['brazilian_e_commerce', 'bank_sales', 'nested'],
      missing: [],
    });
    expect(answer.left.map(({ what, why }) => `${what}: ${why}`)).toEqual([
      'local005: its golden SQL is not published',
      'local006: the document gone.md is missing',
      'local/../../../secret: its id is no name of a file',
      'local003: its document is no name of a file',
      'line 10: no question of Spider 2',
      '2 questions: for BigQuery or Snowflake',
    ]);
    expect(casesOf('lite')[0]).toEqual({
      id: 'local001',
      question: 'Count local001, please?',
      evidence: '# RFM\n\nHow recent, how often, how much.',
      connection: 'brazilian_e_commerce',
      tags: ['spider2', 'external-knowledge'],
      expect: { result: { golden_sql: 'SELECT count(*) AS n FROM t;' } },
    });
    expect(config().startsWith(before.trimEnd())).toBe(true);
    expect(config()).not.toMatch(/unasked|outside/);
    expect((await ktxJson(['eval', 'check', 'lite'], { cwd: dir })).code).toBe(0);
    // A second import adds nothing twice.
    const after = config();
    expect(await importFile(file, 'lite', ...attach)).toMatchObject({ added: [], connections: [] });
    expect(config()).toBe(after);
  });

  test('a dry run attaches nothing', async () => {
    writeSpider2([spider2('local002', 'bank_sales')]);
    const before = config();
    const answer = await importFile(file, 'lite', ...attach, '--dry-run');
    expect([answer.missing.length, config()]).toEqual([1, before]);
  });
});

describe('databases that are attached', () => {
  test('never replace a connection, and never lead out of their folder', async () => {
    writeSpider2([
      spider2('local001', 'Mine'),
      spider2('local002', 'outside'),
      spider2('local003', 'linked'),
    ]);
    const before = config();
    const answer = await importFile(file, 'lite', ...attach);
    expect(answer).toMatchObject({ added: ['local001'], connections: [] });
    expect(answer.left).toContainEqual({
      what: 'outside.sqlite',
      why: 'a link that leads out of the folder',
    });
    expect(answer.missing.map(({ database: name }) => name)).toEqual(['outside', 'linked']);
    expect(config()).toBe(before);
  });

  test('what is no database is named, and the others are attached', async () => {
    write('dbs/broken.sqlite', 'this is no database, whatever its name says');
    writeSpider2([spider2('local001', 'broken'), spider2('local002', 'bank_sales')]);
    const answer = await importFile(file, 'lite', ...attach);
    expect(answer.connections).toEqual(['bank_sales']);
    expect(answer.left.map(({ what }) => what)).toContain('broken');
    expect(config()).not.toContain('broken');
  });

  test('need a folder', async () => {
    writeSpider2([spider2('local001', 'bank_sales')]);
    const { code, error } = await importFile(file, 'lite', '--add-connections', '../none');
    expect([code, error?.code]).toEqual([2, 'file_not_found']);
  });
});

/** As dbt Labs publishes it. */
const turtle = String.raw`@prefix QandA: <http://models.example/QandA#> .
@prefix dwt:   <https://templates.example/> .
# a remark: "open
dwt:IQ_1
        rdf:type       QandA:Inquiry ;
        QandA:expects  dwt:query-1s , dwt:query-1 ;
        QandA:prompt   "How many \"claims\" do we have; really?" .

dwt:IQ_2
        rdf:type       QandA:Inquiry ;
        QandA:expects  dwt:query-1s ;
        QandA:prompt   "Only SPARQL?" .

dwt:query-1
        rdf:type          dwt:SqlQuery ;
        QandA:inLanguage  QandA:SQL ;
        QandA:queryText   "SELECT COUNT(*) AS n\nFROM t" ;
        dct:title         "HQLS: Claim" ;
        dwt:projectId     "benchmark" .

dwt:query-1s
        rdf:type          dwt:SparqlQuery ;
        QandA:queryText   """select ?x where { "a" . }""" .
`;

describe('the benchmark of dbt Labs', () => {
  test('becomes cases with how hard question and schema are', async () => {
    write('benchmark_questions.ttl', turtle);
    const path = '../benchmark_questions.ttl';
    const answer = await importFile(path, '--connection', 'mine');
    expect(answer.added).toHaveLength(1);
    expect(answer.left).toEqual([{ what: 'Only SPARQL?', why: 'no SQL' }]);
    expect(casesOf('benchmark_questions')).toEqual([
      expect.objectContaining({
        question: 'How many "claims" do we have; really?',
        connection: 'mine',
        tags: ['high-question', 'low-schema'],
        expect: { result: { golden_sql: 'SELECT COUNT(*) AS n\nFROM t' } },
      }),
    ]);
    expect(await importFile(path, '--connection', 'mine')).toMatchObject({ added: [] });
  });

  test.for([
    ['a.ttl', '', /no inquiries/],
    ['a.ttl', '"'.repeat(100_001), /no inquiries/],
    ['a.ttl', `${'a'.repeat(100_000)}> . `.repeat(3), /no inquiries/],
    ['a.jsonl', '{"x": 1}', /no benchmark/],
    ['a.jsonl', '', /no benchmark/],
  ] as const)('%s with %.20j is refused', async ([name, text, message]) => {
    write(name, text);
    const { code, error } = await importFile(`../${name}`);
    expect([code, error?.code]).toEqual([2, 'import_invalid']);
    expect(error?.message).toMatch(message);
  });
});
