import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { fail, inTurn, reply, say, type Script, use } from '../support/model-script.ts';
import { ktx } from './run-cli.ts';
import type { Typed } from './typed-input.ts';

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
});
afterAll(() => project?.close());

const revenue: Script = inTurn(
  reply([
    { text: 'Let me see.' },
    {
      tool: 'query_metrics',
      input: { metrics: ['orders.revenue'], dimensions: ['orders.status'] },
    },
  ]),
  say('Revenue is 1,778 EUR [q1].'),
  say('You are welcome.'),
);

/** Types these lines into `ktx chat`, at a terminal or through a pipe. */
async function typed(
  lines: readonly Typed[],
  { terminal = true, argv = [] as readonly string[] } = {},
) {
  return ktx(['chat', ...argv], {
    cwd: project.dir,
    env: { COLUMNS: '200' },
    ...(terminal
      ? { typed: lines }
      : { stdin: lines.map((line) => (typeof line === 'string' ? `${line}\n` : '')).join('') }),
  });
}

describe('ktx chat', () => {
  test('in a pipe: a message a line, on stdout the answers and nothing else', async () => {
    const running = project.playing(revenue);
    const { code, stdout, stderr } = await typed(['What is revenue?', '', 'Thanks.'], {
      terminal: false,
    });
    expect([code, stdout, stderr]).toEqual([
      0,
      'Revenue is 1,778 EUR [q1].\nYou are welcome.\n',
      'not grounded: 1,778 (nothing in q1 gives it)\n',
    ]);
    expect(running.calls[2]?.messages.map(({ text }) => text).join('\n')).toContain(
      'What is revenue?',
    );
  });

  test('in a pipe a failure is told, and is the exit code', async () => {
    project.playing(({ n }) => (n === 1 ? fail('auth') : say('Here.')));
    const { code, stdout, stderr } = await typed(['Hm?', 'Hm??'], { terminal: false });
    expect([code, stdout.trim()]).toEqual([4, 'Here.']);
    expect(stderr).toContain('llm_auth');
  });

  test('as JSON: events a line, then one envelope with every turn', async () => {
    project.playing(revenue);
    const { stdout } = await typed(['What is revenue?', 'Thanks.'], {
      terminal: false,
      argv: ['--json'],
    });
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ type }) => type === 'tool_end')).toMatchObject([
      { name: 'query_metrics', ok: true, evidence_id: 'q1' },
    ]);
    expect(lines.at(-1)).toMatchObject({
      ok: true,
      data: { turns: [{ turn: 1, evidence: [{ id: 'q1' }] }, { turn: 2 }] },
    });
  });

  test('greets with who answers, who pays and what it may do; streams; shows rows and a receipt', async () => {
    project.playing(revenue);
    writeFileSync(join(project.dir, 'CLAUDE.md'), 'Always answer in French.');
    const { stdout, stderr } = await typed(['What is revenue?', 'y']);
    expect(stderr).toMatch(
      /ktx.*claude-ask-\d+ on anthropic, paid by the API key that llm\.provider\.anthropic\.api_key names/,
    );
    expect(stderr).toMatch(/permissions manual · connections shop · tools .*query_metrics/);
    expect(stderr).toContain('ktx does not read CLAUDE.md');
    expect(stderr).toMatch(/query_metrics.* \(curated, read-only, at most 1000 rows\)\n {2}SELECT/);
    expect(stderr).toMatch(/✓.*query_metrics \[q1\] 2 rows from shop in \d+ ms\./);
    expect(stdout).toContain('Let me see.');
    expect(stdout).toContain('Revenue is 1,778 EUR [q1].');
    expect(stderr).toMatch(/orders\.status +orders\.revenue.*paid/s);
    expect(stderr).toMatch(/\[q1\] curated, 2 rows from shop; 2 steps, 240 tokens, \$0\.0012/);
    expect(stderr).toMatch(/next.*chat --resume chat_/s);
  });

  test('slash commands tell of the last answer', async () => {
    project.playing(revenue);
    const commands = [
      '/help',
      '/sql',
      '/rows q1',
      '/rows q1 \\G',
      '/sources',
      '/why',
      '/cost',
      '/permissions',
      '/rows q7',
      '/nonsense',
    ];
    const { stdout, stderr } = await typed(['What is revenue?', 's', ...commands]);
    expect(stdout).toMatch(/\/export \[q1\] \[file\]/);
    expect(stdout).toMatch(/-- q1\nSELECT/);
    expect(stdout).toMatch(/\[q1\] 2 rows\n.*orders\.status +orders\.revenue/);
    expect(stdout).toMatch(/\[q1\] 2 rows\n.*row 1.*\norders\.status +\S+\norders\.revenue +\S/);
    expect(stdout).toMatch(
      /\[q1\] shop\n {2}semantic-layer\/shop\/orders\.yaml at commit [0-9a-f]{10}/,
    );
    expect(stdout).toMatch(
      /\[q1\] query_metrics, \d+ ms\n {2}orders\.revenue: .*curated.*\n {2}block 1: rows of orders/s,
    );
    expect(stdout).toMatch(/claude-ask-\d+: 240 tokens\n1 turn, \$0\.0012/);
    expect(stdout).toMatch(/mode manual\n.*run_sql +query +asks.*queries of what is curated run/s);
    expect(stderr).toContain('There is no query q7');
    expect(stderr).toContain('There is no command /nonsense');
  });

  test('what was said can be saved, its rows exported, and the exchange made a case', async () => {
    project.playing(revenue);
    const { stdout } = await typed([
      'What is revenue?',
      's',
      '/save talk.md',
      '/export rows.csv',
      '/eval',
      '/eval',
    ]);
    expect(stdout).toContain('wrote 2 rows of q1 to');
    expect(readFileSync(join(project.dir, 'talk.md'), 'utf8')).toMatch(
      /## What is revenue\?\n\nRevenue is 1,778 EUR \[q1\]\.\n\n\[q1\]\n\n```sql\nSELECT/,
    );
    expect(readFileSync(join(project.dir, 'rows.csv'), 'utf8')).toMatch(
      /^orders\.status,orders\.revenue\npaid,/,
    );
    expect(load(readFileSync(join(project.dir, 'evals/chat.yaml'), 'utf8'))).toMatchObject({
      version: 1,
      agent: 'ktx',
      connection: 'shop',
      cases: [
        {
          id: 'what-is-revenue',
          question: 'What is revenue?',
          expect: {
            result: { golden_sql: expect.stringMatching(/select/i) },
            semantic_layer: { metrics: ['orders.revenue'] },
          },
        },
        { id: 'what-is-revenue-2' },
      ],
    });
  });

  test('a no is told to the model, recorded, and the conversation goes on', async () => {
    const running = project.playing(({ results }) =>
      results.length === 0 ? use('run_sql', { sql: 'SELECT 1' }) : say('Then not.'),
    );
    const { stdout, stderr, code } = await typed(['Count.', 'n', '/permissions']);
    expect(code).toBe(0);
    expect(running.calls[1]?.results[0]?.text).toContain('denied by the user');
    expect(stderr).toMatch(/✗.*run_sql not run: denied by the user/);
    expect(stdout).toMatch(/denied:\n {2}run_sql: denied by the user/);
  });

  test('goes on from the last conversation', async () => {
    const running = project.playing(inTurn(say('Noted.'), say('Plum.')));
    await typed(['Remember plum.'], { terminal: false });
    const { stderr } = await typed(['What was it?'], { argv: ['--resume'] });
    expect(stderr).toContain('after 1 turn');
    expect(running.calls[1]?.messages.map(({ text }) => text).join('\n')).toContain(
      'Remember plum.',
    );
  });

  test('nothing that a model says drives the terminal', async () => {
    project.playing(() => say('\u001b[2Jgone\u0007'));
    const { stdout } = await typed(['Hm?']);
    expect(stdout).not.toContain('\u001b[2J');
    expect(stdout).not.toContain('\u0007');
    expect(existsSync(join(project.dir, '.ktx/chats'))).toBe(true);
  });
});
