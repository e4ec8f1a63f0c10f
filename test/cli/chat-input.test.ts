import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import type { ModelCase } from '../support/model-endpoint.ts';
import { fail, inTurn, say, subscriptionLimit, use } from '../support/model-script.ts';
import { ktx } from './run-cli.ts';
import type { Typed } from './typed-input.ts';

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
});
afterAll(() => project?.close());

const chat = (typed: readonly Typed[]) =>
  ktx(['chat'], { cwd: project.dir, env: { COLUMNS: '200' }, typed });

/** The messages of a person that the model got, each once. */
function messagesOf(running: ModelCase): readonly string[] {
  const last = running.calls.at(-1)?.messages ?? [];
  return last.filter(({ role, text }) => role === 'user' && text !== '').map(({ text }) => text);
}

const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
const byStatus = { metrics: ['orders.revenue'], dimensions: ['orders.status'] };

describe('what is typed into a chat', () => {
  test.each([
    ['with marks around it', [`\u001b[200~${lines.join('\r')}\u001b[201~`]],
    ['with marks, in pieces', [`\u001b[200~${lines.join('\n')}\u001b[20`, '1~']],
    ['without marks', [lines.join('\r')]],
    ['without marks, in pieces', [`${lines.slice(0, 9).join('\r')}\r`, lines.slice(9).join('\r')]],
  ])('a paste of 30 lines %s is one message', async (_, paste) => {
    const running = project.playing(() => say('Read.'));
    const { stdout } = await chat([
      { keys: 'Look: ' },
      { keys: paste, when: /Look: / },
      // Also where an answer shows that the paste has sent itself.
      { keys: '\r', when: /paste|Read/ },
    ]);
    expect(messagesOf(running)).toEqual([`Look: ${lines.join('\n')}`]);
    expect(running.calls).toHaveLength(1);
    expect(stdout).toContain('Look: [paste 1: 30 lines]');
  });

  test('lines that arrive together are one message, and what arrives later another', async () => {
    const running = project.playing(() => say('Read.'));
    await chat([{ keys: 'one\rtwo\r' }, 'three']);
    expect(messagesOf(running)).toEqual(['one\ntwo', 'three']);
  });

  test('a paste is text: its escape codes are no keys, and it does not send itself', async () => {
    const running = project.playing(() => say('Read.'));
    await chat([{ keys: '\u001b[200~a\u0003b\u001b[A\n\u001b[201~' }, { keys: '!\r', when: /ab/ }]);
    expect(messagesOf(running)).toEqual(['ab[A!']);
  });

  test('a message goes on after a backslash and after Alt-Enter', async () => {
    const running = project.playing(() => say('Read.'));
    await chat(['one\\', { keys: 'two\u001b\r' }, 'three']);
    expect(messagesOf(running)).toEqual(['one\ntwo\nthree']);
  });

  test('what is typed while an answer runs is the next message, and no answer to a question', async () => {
    const running = project.playing(
      inTurn(
        say('First.\n\nThen more, at length, as it goes.', { dripMs: 30 }),
        use('query_metrics', byStatus),
        say('Second.'),
      ),
    );
    const { stdout } = await chat([
      'one',
      { keys: 'two\r', when: /First/ },
      { keys: 'half', when: /Let|Allow/ },
      { keys: '\u0015y\r', when: /half/ },
    ]);
    expect(messagesOf(running).slice(0, 2)).toEqual(['one', 'two']);
    expect(stdout).toMatch(/› .*two\nor|› \S*two\n/);
    expect(stdout).toContain('Second.');
  });

  test('several lines at a question do not answer it', async () => {
    const running = project.playing(
      inTurn(use('run_sql', { sql: 'SELECT 1' }), say('Done.'), say('Read.')),
    );
    const { stderr } = await chat([
      'Count.',
      { keys: '\u001b[200~o\nand then by region\u001b[201~\r' },
      'n',
    ]);
    expect(stderr).toContain('kept as your next message');
    expect(running.calls[1]?.results[0]?.text).toContain('denied by the user');
    expect(messagesOf(running).at(-1)).toBe('o\nand then by region');
  });
});

describe('Ctrl-C in a chat', () => {
  test.each([
    ['a question', inTurn(use('run_sql', { sql: 'SELECT 1' }), say('After.')), /\]o: /],
    [
      'an answer',
      inTurn(say('Long words.\n\nAnd many more of them.', { hang: 'mid-stream' }), say('After.')),
      /Long/,
    ],
    ['the wait for a model', inTurn(say('x', { hang: 'at-start' }), say('After.')), /waiting for/],
  ] as const)('at %s stops the turn; the next line is a message', async (_, script, when) => {
    const running = project.playing(script);
    const { code, stdout, stderr } = await chat(['Go.', { keys: '\u0003', when }, 'And now?']);
    expect(code).toBe(0);
    expect(stderr).toContain('stopping; press Ctrl-C again to leave');
    expect(messagesOf(running).at(-1)).toContain('And now?');
    expect(stdout).toContain('After.');
    expect(running.calls).toHaveLength(2);
  });

  test('once at each of two questions stops both turns, and does not leave', async () => {
    const ask = use('run_sql', { sql: 'SELECT 1' });
    const running = project.playing(inTurn(ask, ask, say('After.')));
    const stop = { keys: '\u0003', when: /\]o: / };
    const { stdout } = await chat(['Go.', stop, 'Again.', stop, 'And now?']);
    expect(stdout).toContain('After.');
    expect(running.calls).toHaveLength(3);
  });

  test('at the prompt drops the line and shows the prompt again', async () => {
    const running = project.playing(() => say('Read.'));
    await chat([{ keys: 'wrong' }, { keys: '\u0003', when: /wrong/ }, 'right']);
    expect(messagesOf(running)).toEqual(['right']);
  });
});

describe('permission in a chat', () => {
  test('is asked once a session for curated queries, and each time for SQL', async () => {
    project.playing(
      inTurn(
        use('query_metrics', byStatus),
        use('query_metrics', { metrics: ['orders.revenue'] }),
        use('query_metrics', { metrics: [{ name: 'total', expr: 'sum(orders.amount)' }] }),
        use('run_sql', { sql: 'SELECT 1' }),
        use('run_sql', { sql: 'SELECT 2' }),
        say('Done.'),
      ),
    );
    const { stdout } = await chat(['Go.', 'y', 'o', 'o', 'o']);
    expect(stdout.match(/Allow curated queries[^\n]*y\r/g)).toHaveLength(1);
    expect(stdout.match(/Allow it\?[^\n]*o\r/g)).toHaveLength(3);
    expect(stdout).toContain('Done.');
  });
});

describe('a rate limit in a chat', () => {
  test('is one line with the time left', async () => {
    const limit = () => fail('rate-limit', subscriptionLimit(new Date(Date.now() + 1500)));
    project.playing(({ n }) => (n === 1 ? limit() : say('Here.')));
    const { stdout, stderr } = await chat(['Go.']);
    expect(stdout).toContain('Here.');
    expect(stderr).toMatch(/rate limit of the model provider \(five hour\), waiting · 0:0\d left/);
    expect(stderr).not.toContain('continuing at');
    expect(stderr.replaceAll(/\r.*?waiting[^\r]*/g, '')).not.toMatch(/limit/i);
  });
});
