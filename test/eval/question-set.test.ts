import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { ktx, ktxJson, shopProject } from '../cli/run-cli.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await shopProject();
  mkdirSync(join(cwd, 'evals'));
});

function write(name: string, text: string): void {
  writeFileSync(join(cwd, `evals/${name}.yaml`), text);
}

const golden = (sql: string): string => `{result: {golden_sql: "${sql}"}}`;

describe('ktx eval check', () => {
  test('runs all golden SQL with no model, that of every turn too', async () => {
    write(
      'orders',
      `cases:\n  - {id: total, question: How much?, expect: ${golden('SELECT sum(amount) AS total FROM orders')}}\n  - id: talk\n    turns:\n      - {question: How many?}\n      - {question: By status?, expect: ${golden('SELECT status, count(*) AS n FROM orders GROUP BY 1')}}\n`,
    );
    write('other', 'cases: [{id: nps, question: NPS?, expect: {refuses: true}}]\n');
    const { code, envelope } = await ktxJson(['eval', 'check'], { cwd });
    expect(code).toBe(0);
    expect(envelope.data).toMatchObject({
      cases: [{ id: 'orders/total' }, { id: 'orders/talk', turns: 2 }, { id: 'other/nps' }],
      golden: [
        { id: 'orders/total', turn: 1, rows: 1, columns: ['total'] },
        { id: 'orders/talk', turn: 2, rows: 2, columns: ['status', 'n'] },
      ],
    });
    expect((await ktx(['eval', 'check', 'other'], { cwd })).stdout).toBe(
      '1 case in 1 question set; 0 of 0 golden statements ran.\n',
    );
  });

  test('golden SQL that does not run, or could change something, fails with its case; the others are run', async () => {
    write(
      'orders',
      `cases:\n  - {id: gone, question: Q, expect: ${golden('SELECT n FROM no_such')}}\n  - {id: evil, question: Q, expect: ${golden('DELETE FROM orders')}}\n  - {id: weak, question: Q, expect: ${golden('SELECT id FROM orders WHERE 1 = 0')}}\n`,
    );
    const { code, stdout, stderr } = await ktx(['eval', 'check'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^error {2}orders\/gone: .*no_such.*\nerror {2}orders\/evil: .*\nweak {3}orders\/weak: 0 rows of id; no rows/,
    );
    expect(stderr).toContain('The golden SQL of 2 cases cannot be run');
  });

  test('what is wrong in a file has its place', async () => {
    const wrong = async (text: string): Promise<string> => {
      write('orders', text);
      const { code, stderr } = await ktx(['eval', 'check'], { cwd });
      expect(code).toBe(2);
      return stderr;
    };
    expect(await wrong('cases:\n  - id: a\n    question: Q\n    expect: {refuse: true}\n')).toMatch(
      /evals\/orders\.yaml:4:14: .*did you mean refuses/,
    );
    expect(await wrong('cases:\n  - id: a\n    question: Q\n')).toMatch(
      /orders\.yaml:2:5: .*expect is missing/,
    );
    expect(
      await wrong('cases:\n  - {id: a, question: Q, expect: {text: {matches: "("}}}\n'),
    ).toMatch(/orders\.yaml:2:.*regular expression/);
    expect(
      await wrong('cases:\n  - {id: a, question: Q, expect: {tools: [{not: runsql}]}}\n'),
    ).toMatch(/orders\.yaml:2:.*no tool runsql[^]*Did you mean run_sql/);
    expect(
      await wrong(
        'cases:\n  - {id: a, question: Q, expect: {tools: [{name: run_sql, count: {min: 3, max: 1}}]}}\n',
      ),
    ).toMatch(/min must not be above max/);
    const one = '  - {id: a, question: Q, expect: {refuses: true}}\n';
    expect(await wrong(`cases:\n${one}${one}`)).toMatch(/orders\.yaml:3:10: there are two cases a/);
    expect(await wrong('')).toMatch(/orders\.yaml:1:1: .*empty/);
  });

  test('a name that is not there comes with what is', async () => {
    const none = await ktxJson(['eval', 'check'], { cwd });
    expect(none.envelope.error).toMatchObject({
      code: 'eval_unknown',
      hint: expect.stringContaining('evals/questions.yaml'),
    });
    write('revenue', 'cases: [{id: nps, question: NPS?, expect: {refuses: true}}]\n');
    const near = await ktxJson(['eval', 'check', 'revenues'], { cwd });
    expect(near.envelope.error).toMatchObject({
      code: 'eval_unknown',
      hint: 'Did you mean revenue?',
    });
  });
});

test('ktx eval generate: cases of curated metrics that hold their definition; a person’s own lines stay', async () => {
  const connection =
    readFileSync(join(cwd, 'ktx.yaml'), 'utf8').match(/connections:\n\s+(\w+):/)?.[1] ?? '';
  mkdirSync(join(cwd, `semantic-layer/${connection}`), { recursive: true });
  writeFileSync(
    join(cwd, `semantic-layer/${connection}/orders.yaml`),
    "dataset: orders\nsource: orders\nprimary_key: [id]\nfields:\n  - {name: id, type: integer}\n  - {name: amount, type: integer}\n  - {name: status, type: string}\nmetrics:\n  - {name: revenue, agg: sum, of: amount, where: status = 'paid', synonyms: [turnover]}\n  - {name: impossible, agg: sum, of: amount, where: status = 'no such'}\n  - {name: count, agg: count}\n",
  );
  write(
    'generated',
    '# ours\ncases:\n  - {id: nps, question: NPS?, expect: {refuses: true}} # keep\n',
  );
  const first = await ktxJson(['eval', 'generate'], { cwd });
  expect(first.envelope.data).toEqual({
    file: 'evals/generated.yaml',
    added: ['orders-revenue'],
    written: true,
    left: [{ what: 'orders.impossible', why: 'nothing but NULL' }],
  });
  const text = readFileSync(join(cwd, 'evals/generated.yaml'), 'utf8');
  expect(text).toMatch(/^# ours\ncases:\n.*nps.* # keep\n/);
  expect(text).toContain('question: What is the turnover?');
  const checked = await ktxJson(['eval', 'check', 'generated'], { cwd });
  expect(checked.envelope.data).toMatchObject({
    golden: [{ id: 'generated/orders-revenue', rows: 1 }],
  });
  expect((await ktxJson(['eval', 'generate'], { cwd })).envelope.data).toMatchObject({
    added: [],
    written: false,
  });
});

test('ktx eval generate --queries: a case a statement, asked by the comment above it; what proves nothing is named and left out', async () => {
  writeFileSync(
    join(cwd, 'board.sql'),
    `-- Numbers of the board, kept by finance.

-- How much was paid; by status?
SELECT status, sum(amount) AS total -- not a; split
FROM orders WHERE status <> 'a;b' AND "status" <> '--' GROUP BY 1;

/* How many orders
 * are there? */
SELECT count(*) AS n FROM orders;
SELECT 1;
-- What is gone?
SELECT n FROM no_such;
-- Who has none?
SELECT id FROM orders WHERE id < 0;
-- May this run?
DELETE FROM orders`,
  );
  const { code, envelope } = await ktxJson(
    ['eval', 'generate', 'board', '--queries', 'board.sql'],
    { cwd },
  );
  expect([code, envelope.data]).toEqual([
    0,
    {
      file: 'evals/board.yaml',
      added: ['how-much-was-paid-by-status', 'how-many-orders-are-there'],
      written: true,
      left: [
        { what: 'board.sql:10', why: 'no comment above it says what it answers' },
        { what: 'board.sql:12', why: expect.stringContaining('no_such') },
        { what: 'board.sql:14', why: 'no rows: any query that returns nothing would pass' },
        { what: 'board.sql:16', why: expect.any(String) },
      ],
    },
  ]);
  const checked = await ktxJson(['eval', 'check', 'board'], { cwd });
  expect(checked.envelope.data).toMatchObject({
    cases: [{}, {}],
    golden: [{ rows: 2, columns: ['status', 'total'] }, { rows: 1 }],
  });
  expect(readFileSync(join(cwd, 'evals/board.yaml'), 'utf8')).toContain(
    'question: How many orders are there?',
  );
  const none = await ktxJson(['eval', 'generate', 'board', '--queries', 'none.sql'], { cwd });
  expect([none.code, none.envelope.error?.code]).toEqual([2, 'file_not_found']);
});
