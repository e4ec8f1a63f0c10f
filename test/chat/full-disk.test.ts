import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { inTurn, say } from '../support/model-script.ts';

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
});
afterAll(() => project?.close());

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/**
 * A process of its own that the system lets write no file beyond 64 kB: what a full disk does,
 * without being root.
 */
async function cramped(argv: readonly string[]) {
  const child = spawn(
    'bash',
    ['-c', 'ulimit -f 64; exec "$0" "$@"', process.execPath, main, ...argv],
    {
      cwd: project.dir,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => void child.on('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

test.skipIf(process.platform === 'win32')(
  'a disk that takes nothing more costs the record of a turn, not its answer, nor what comes later',
  async () => {
    const long = 'All of it. '.repeat(10_000);
    const running = project.playing(
      inTurn(say('First.'), say(long), say('Third.'), say('Fourth.')),
    );
    const { envelope } = await ktxJson(['ask', 'Remember plum.'], { cwd: project.dir });
    const { conversation } = envelope.data as { conversation: string };
    const { code, stdout, stderr } = await cramped([
      'ask',
      '--resume',
      conversation,
      'Tell me all.',
    ]);
    expect([code, stdout]).toEqual([0, `${long}\n`]);
    expect(stderr).toMatch(/could not be saved: EFBIG/);
    // What was cut off does not swallow what is kept after it.
    expect(
      readFileSync(join(project.dir, '.ktx/chats', `${conversation}.jsonl`), 'utf8').length,
    ).toBeGreaterThan(60_000);
    await ktx(['ask', '--resume', conversation, 'Remember pear.'], { cwd: project.dir });
    expect(
      (await ktx(['ask', '--resume', conversation, 'What was it?'], { cwd: project.dir })).stdout,
    ).toBe('Fourth.\n');
    const told =
      running.calls
        .at(-1)
        ?.messages.map((message) => message.text)
        .join('\n') ?? '';
    for (const word of ['Remember plum.', 'First.', 'Remember pear.', 'Third.'])
      expect(told).toContain(word);
    expect(told).not.toContain('Tell me all.');
  },
);

test.skipIf(process.platform === 'win32')(
  'a run of an eval that cannot be kept is told all the same',
  async () => {
    project.playing(() => say('All of it. '.repeat(10_000)));
    mkdirSync(join(project.dir, 'evals'));
    writeFileSync(
      join(project.dir, 'evals/long.yaml'),
      'version: 1\nconnection: shop\ncases:\n  - {id: all, question: Tell me all., expect: {text: {contains: [All of it]}}}\n',
    );
    const { code, stdout, stderr } = await cramped(['eval', 'run', 'long']);
    expect(stdout).toMatch(/cases +1 of 1 pass/);
    expect(stderr).toMatch(/This run could not be saved: .*cannot be written \(EFBIG\)/);
    expect(code).toBe(1);
  },
);
