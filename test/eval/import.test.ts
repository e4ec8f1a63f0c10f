import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadQuestionSets } from '../../src/eval/cases/question-set.ts';
import { approve } from '../support/approve.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';

let dir: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ktx-import-'));
  for (const name of ['schools', 'concert_singer', 'far']) {
    mkdirSync(join(dir, 'databases', name), { recursive: true });
    const db = new DatabaseSync(join(dir, 'databases', name, `${name}.sqlite`));
    db.exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, score REAL, city TEXT);
      INSERT INTO t VALUES (1, 500, 'Oslo'), (2, 640, 'Bergen'), (3, NULL, 'Oslo')`);
    db.close();
  }
  const connections = ['schools', 'concert_singer'].map(
    (name) => `  ${name}: {driver: sqlite, path: databases/${name}/${name}.sqlite}\n`,
  );
  writeFileSync(join(dir, 'ktx.yaml'), `connections:\n${connections.join('')}`);
  await approve(dir);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

interface Imported {
  readonly added: readonly string[];
  readonly kept: number;
  readonly weak: readonly string[];
  readonly left: readonly { readonly what: string; readonly why: string }[];
  readonly missing: readonly object[];
}

async function importFile(name: string, content: unknown, ...args: readonly string[]) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(dir, name), text);
  const { code, envelope } = await ktxJson(['eval', 'import', name, ...args], { cwd: dir });
  return { code, error: envelope.error, ...(envelope.data as Imported) };
}
const casesOf = (set: string) =>
  (load(readFileSync(join(dir, `evals/${set}.yaml`), 'utf8')) as { cases: object[] }).cases;

/** As BIRD publishes it. */
const bird = (id: number, more: object = {}) => ({
  question_id: id,
  db_id: 'schools',
  question: `How many schools are in city ${id}?`,
  evidence: '',
  SQL: 'SELECT count(*) FROM t',
  difficulty: 'simple',
  ...more,
});
/** As Spider publishes it, with the parse that it adds. */
const spider = (question: string, query: string, db = 'concert_singer') => ({
  db_id: db,
  query,
  query_toks: query.split(' '),
  query_toks_no_value: query.split(' '),
  question,
  question_toks: question.split(' '),
  sql: { from: { table_units: [['table_unit', 0]], conds: [] }, where: [], limit: null },
});

describe('questions of BIRD', () => {
  test('become cases with evidence, difficulty and golden SQL', async () => {
    const answer = await importFile('dev.json', [
      bird(0, { evidence: 'Excellence means a score above 600', difficulty: 'challenging' }),
      bird(1),
      bird(2, { SQL: 'SELECT id FROM t WHERE id > 9' }),
      bird(3, { SQL: 'SELECT nothing FROM nowhere' }),
      bird(4, { SQL: 'DELETE FROM t' }),
      bird(5, { SQL: undefined }),
      bird(1),
      bird(6, { db_id: 'far' }),
      bird(7, { db_id: '../../etc/passwd' }),
      bird(8, { question: 'Qui a dit « l’été » 🦊?', db_id: 'SCHOOLS' }),
    ]);
    expect(answer).toMatchObject({
      code: 0,
      added: ['schools-0', 'schools-1', 'schools-2', 'schools-8'],
      kept: 0,
      weak: ['schools-2'],
      missing: [
        { database: 'far', questions: 1 },
        { database: '../../etc/passwd', questions: 1 },
      ],
    });
    expect(answer.left[1]?.what).toBe('schools-3 (How many schools are in city 3?)');
    expect(answer.left.map(({ what }) => what.replace(/ \(.*/, ''))).toEqual([
      'question 6',
      'schools-3',
      'schools-4',
      'schools-1',
      '1 question',
      '1 question',
    ]);
    expect(casesOf('dev')[0]).toEqual({
      id: 'schools-0',
      question: 'How many schools are in city 0?',
      evidence: 'Excellence means a score above 600',
      connection: 'schools',
      tags: ['challenging'],
      expect: { result: { golden_sql: 'SELECT count(*) FROM t' } },
    });
    const [set] = await loadQuestionSets(dir, { sets: ['dev'] });
    expect(set?.cases[0]?.turns[0]?.question).toBe(
      'How many schools are in city 0?\n\nExcellence means a score above 600',
    );
    expect((await ktxJson(['eval', 'check', 'dev'], { cwd: dir })).code).toBe(0);
  });

  test('are added once; what a person wrote stays', async () => {
    await importFile('dev.json', [bird(0), bird(1)]);
    const path = join(dir, 'evals/dev.yaml');
    const mine = readFileSync(path, 'utf8').replace('in city 0?', 'in Oslo? # ours');
    writeFileSync(path, mine);
    expect(await importFile('dev.json', [bird(0), bird(1), bird(2)])).toMatchObject({
      added: ['schools-2'],
      kept: 2,
    });
    expect(readFileSync(path, 'utf8').startsWith(mine)).toBe(true);
    expect(await importFile('dev.json', [bird(0), bird(1), bird(2)])).toMatchObject({ added: [] });
  });

  test('of a database whose name is no word say how to name its connection', async () => {
    writeFileSync(join(dir, 'dev.json'), JSON.stringify([bird(6, { db_id: 'Far away' })]));
    const { stderr } = await ktx(['eval', 'import', 'dev.json'], { cwd: dir });
    expect(stderr).toContain('ktx connection add far_away --driver sqlite --path "<file>"');
  });

  test('of a database without a connection say how to connect it', async () => {
    writeFileSync(join(dir, 'dev.json'), JSON.stringify([bird(6, { db_id: 'far' })]));
    const args = ['eval', 'import', 'dev.json', '--databases', 'databases'];
    const { stdout, stderr } = await ktx(args, { cwd: dir });
    expect(stdout + stderr).toContain(
      'ktx connection add far --driver sqlite --path "databases/far/far.sqlite"',
    );
    const add = ['connection', 'add', 'far', '--driver', 'sqlite'];
    await ktx([...add, '--path', 'databases/far/far.sqlite'], { cwd: dir });
    expect((await ktxJson(args, { cwd: dir })).envelope.data).toMatchObject({
      added: ['far-6'],
      missing: [],
    });
  });
});

test('ids and tags of any names are valid', async () => {
  const odd = ['__', '_x', 'ä'.repeat(200), '日本', 'A'.repeat(150)];
  const rows = odd.map((name) => `"${name}","How many ${name}?",SELECT count(*) FROM t,"${name}"`);
  const csv = `id,question,sql,tags\n${rows.join('\n')}\n`;
  const args = ['odd', '--connection', 'schools'];
  expect((await importFile('odd.csv', csv, ...args)).added).toHaveLength(odd.length);
  const [set] = await loadQuestionSets(dir, { sets: ['odd'] });
  expect(new Set(set?.cases.map(({ id }) => id)).size).toBe(odd.length);
});

describe('questions of Spider', () => {
  test('become cases with an id that stays when the file is sorted anew', async () => {
    const questions = ['singers', 'concerts', 'stadiums'].map((what, index) =>
      spider(`How many ${what}?`, `SELECT count(*) + ${index} FROM t`),
    );
    const { added } = await importFile('dev.json', questions);
    expect(added).toEqual(
      Array.from(
        { length: 3 },
        () => expect.stringMatching(/^concert_singer-[0-9a-f]{10}$/) as unknown,
      ),
    );
    expect(await importFile('dev.json', questions.toReversed())).toMatchObject({
      added: [],
      kept: 3,
    });
    expect(casesOf('dev')[0]).toMatchObject({ connection: 'concert_singer', tags: [] });
  });

  test('are as many as asked for', async () => {
    const questions = Array.from({ length: 9 }, (_, id) =>
      spider(`Q ${id}?`, `SELECT ${id} FROM t`),
    );
    expect((await importFile('dev.json', questions, '--limit', '4')).added).toHaveLength(4);
    expect((await importFile('dev.json', questions, '--limit', '4')).added).toHaveLength(4);
    expect((await importFile('dev.json', questions, '--limit', '4')).added).toHaveLength(1);
  });
});

describe('a CSV file', () => {
  test('has questions and SQL under the names that people use', async () => {
    const csv =
      '\uFEFFID;Question\r\n'
        .replace(';', ',')
        .replace('\r\n', ',Gold SQL,Database,Difficulty,Hint\r\n') +
      'total,"How many, all told?","SELECT count(*)\r\nFROM t",schools,Easy,"a ""hint"""\r\n' +
      ',Which cities?,SELECT DISTINCT city FROM t,schools,"easy, board",\r\n' +
      'empty,,SELECT 1 FROM t,schools,,\r\n';
    const answer = await importFile('Ours.csv', csv);
    expect(answer.added).toEqual(['total', expect.stringMatching(/^schools-[0-9a-f]{10}$/)]);
    expect(answer.left).toEqual([{ what: 'row 4', why: 'no question' }]);
    expect(casesOf('ours')).toEqual([
      expect.objectContaining({
        question: 'How many, all told?',
        evidence: 'a "hint"',
        tags: ['easy'],
        expect: { result: { golden_sql: 'SELECT count(*)\r\nFROM t' } },
      }),
      expect.objectContaining({ tags: ['easy', 'board'] }),
    ]);
  });

  test('needs no database if the connection is given', async () => {
    const csv = 'question,sql\nHow many?,SELECT count(*) FROM t\n';
    const answer = await importFile('few.csv', csv, 'board', '--connection', 'schools');
    expect(answer.added).toHaveLength(1);
    expect(casesOf('board')[0]).toMatchObject({ connection: 'schools' });
  });
});

test.for([
  ['a.json', '{"db_id": 1}', 'import_invalid', /not a list/],
  ['a.json', '[1, 2', 'import_invalid', /not JSON/],
  ['a.json', '[{"x": 1}]', 'import_invalid', /no benchmark/],
  ['a.json', '[]', 'import_invalid', /no benchmark/],
  ['a.json', '['.repeat(100_000), 'import_invalid', /not JSON/],
  ['a.csv', 'q,s\n1,2\n', 'import_invalid', /no column question; it has q, s/],
  ['a.csv', 'question,sql\n"open,1\n', 'import_invalid', /not CSV/],
  ['a.csv', '', 'import_invalid', /has none/],
  ['My File.csv', 'question,sql\n', 'usage', /question set/],
] as const)('%s with %.20j is refused', async ([name, text, code, message]) => {
  const { code: exit, error } = await importFile(name, text);
  expect([exit, error?.code]).toEqual([2, code]);
  expect(error?.message).toMatch(message);
});
