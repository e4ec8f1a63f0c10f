import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { BackendCall, CallMonitor, ModelBackend } from '../../src/llm/port/backend.ts';
import { openClaudeCodeBackend } from '../../src/llm/claude-code/backend.ts';
import { claudeBinary, type ClaudeHome, makeClaudeHome } from '../support/claude-home.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { give, inTurn, say, use } from '../support/model-script.ts';

const binary = claudeBinary();
const title =
  binary === undefined
    ? `, skipped: no Claude Code binary for ${process.platform}-${process.arch}`
    : '';
const tools = {
  read_note: {
    name: 'read_note',
    description: 'Reads the note.',
    inputSchema: z.object({}),
    execute: () => Promise.resolve({ markdown: 'Noted.' }),
  },
};

let endpoint: ModelEndpoint;
let machine: ClaudeHome;
let backends: ModelBackend[];
let runs: string;
beforeEach(async () => {
  endpoint = await openModelEndpoint();
  machine = await makeClaudeHome(endpoint);
  backends = [];
  runs = join(dirname(machine.home), 'runs');
  await mkdir(runs);
});
afterEach(async () => {
  await Promise.all(backends.map((backend) => backend.close()));
  await endpoint?.close();
  await machine?.remove();
});

/** The program, behind one that leaves the arguments of each run in a file named by its process. */
async function recorded(program = binary): Promise<string> {
  const wrapper = join(dirname(machine.home), 'claude');
  await writeFile(
    wrapper,
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${runs}'/$$\nexec '${program}' "$@"\n`,
  );
  await chmod(wrapper, 0o755);
  return wrapper;
}

const pids = async (): Promise<number[]> => (await readdir(runs)).map(Number);
const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

function open(options: Partial<Parameters<typeof openClaudeCodeBackend>[0]> = {}): ModelBackend {
  const backend = openClaudeCodeBackend({
    projectDir: machine.projectDir,
    env: machine.env,
    ...options,
  });
  backends.push(backend);
  return backend;
}

function call(
  prompt: string,
  rest: Partial<BackendCall> = {},
): BackendCall & { readonly stepBudget: number } {
  const nothing = (): void => undefined;
  const { signal } = new AbortController();
  const monitor: CallMonitor = {
    signal,
    heartbeat: nothing,
    stepFinished: nothing,
    requestSent: nothing,
    answerBegan: nothing,
    addUsage: nothing,
    toolFailed: nothing,
    retry: (failure) => Promise.reject(failure),
    limitReported: nothing,
    warn: nothing,
  };
  return {
    role: 'triage',
    model: 'sonnet',
    prompt,
    system: 'S',
    tools: {},
    temperature: undefined,
    tags: {},
    monitor,
    stepBudget: 4,
    ...rest,
  };
}

describe.skipIf(binary === undefined)(`children of the Claude Code binary${title}`, () => {
  test.for(['SIGKILL', 'SIGINT'] as const)(
    'are gone when their parent ends by %s in the middle of a call [Q10]',
    async (signal) => {
      const running = endpoint.start(() => say('A long answer.', { hang: 'mid-stream' }));
      const script = join(import.meta.dirname, '../support/crashing-parent.ts');
      const parent = spawn(
        process.execPath,
        [script, machine.projectDir, await recorded(), running.marker],
        {
          env: machine.env,
          stdio: 'ignore',
        },
      );
      const ended = once(parent, 'exit');
      await running.arrived(1);
      expect((await pids()).filter(alive)).toHaveLength(1);
      parent.kill(signal);
      await ended;
      const started = await pids();
      await expect.poll(() => started.filter(alive), { timeout: 10_000 }).toEqual([]);
    },
  );

  test('start with every switch of the isolation, in any kind of call; nothing of the login stays [E1 E7 E11 E14 I11 T1 O5 Q4]', async () => {
    const backend = open({ executable: await recorded() });
    const text = endpoint.start(() => say('A text.'));
    expect(await backend.text(call(text.marker))).toBe('A text.');
    const object = endpoint.start(inTurn(give({ answer: 'yes' })));
    expect(
      await backend.object({
        ...call(object.marker),
        stepBudget: 1,
        schema: z.object({ answer: z.string() }),
      }),
    ).toEqual({
      answer: 'yes',
    });
    const loop = endpoint.start(inTurn(use('read_note', {}), say('A loop.')));
    expect(await backend.loop(call(loop.marker, { tools }))).toEqual({
      stopReason: 'natural',
      text: 'A loop.',
    });
    endpoint.fallback = () => say('ready');
    await backend.probe('sonnet', new AbortController().signal);
    await backend.account(new AbortController().signal);
    await backend.close();

    expect(await readdir(machine.projectDir)).toEqual([]);
    const all = await Promise.all(
      (await readdir(runs)).map((name) => readFile(join(runs, name), 'utf8')),
    );
    // One each for text, object, loop, probe and account.
    expect(all).toHaveLength(5);
    for (const run of all) {
      const words = run.split(/[=\n]/);
      const value = (name: string): string | undefined => words[words.indexOf(name) + 1];
      expect([value('--tools'), value('--setting-sources')]).toEqual(['', '']);
      expect(words).toEqual(
        expect.arrayContaining(['--strict-mcp-config', '--no-session-persistence']),
      );
      expect(value('--permission-mode')).toBe('dontAsk');
      expect(value('--disallowedTools')?.split(',')).toEqual(
        expect.arrayContaining(['Bash', 'Read', 'Task', 'Skill']),
      );
      expect(value('--max-turns')).toBe(words.includes('--allowedTools') ? '4' : '1');
    }
  });

  test('serve the next call of the same kind without a new start [E1]', async () => {
    const backend = open({ executable: await recorded() });
    const running = endpoint.start(({ n }) => say(`Answer ${n}.`));
    for (const n of [1, 2, 3])
      expect(await backend.text(call(running.marker))).toBe(`Answer ${n}.`);
    expect(await pids()).toHaveLength(1);
    await backend.close();
    expect((await pids()).filter(alive)).toEqual([]);
  });

  test('are started at most three times if the start fails [Q10]', async () => {
    const broken = join(dirname(machine.home), 'broken');
    await writeFile(broken, '#!/bin/sh\nexit 7\n');
    await chmod(broken, 0o755);
    const failure = open({ executable: await recorded(broken) }).text(call('Never.'));
    await expect(failure).rejects.toMatchObject({
      kind: 'spawn',
      message: expect.stringContaining('exit code 7'),
    });
    expect(await pids()).toHaveLength(3);
  });

  test('end with the backend while a call runs [Q10]', async () => {
    const backend = open({ executable: await recorded() });
    const running = endpoint.start(() => say('A long answer.', { hang: 'mid-stream' }));
    const failure = expect(backend.text(call(running.marker))).rejects.toMatchObject({
      kind: 'aborted',
    });
    await running.arrived(1);
    await backend.close();
    await failure;
    expect((await pids()).filter(alive)).toEqual([]);
  });
});

describe('before a child is started', () => {
  const missing = [
    [
      'the program',
      () => ({ executable: '/nowhere/claude' }),
      /no Claude Code program at/,
      /npm install/,
    ],
    [
      'the project folder',
      () => ({ projectDir: join(machine.home, 'nowhere'), executable: process.execPath }),
      /project folder .* does not exist/,
      /project folder/,
    ],
    [
      'a home that can be written to',
      () => ({
        env: { ...machine.env, HOME: '/nowhere', USERPROFILE: '/nowhere' },
        executable: process.execPath,
      }),
      /cannot write to the home folder/,
      /HOME/,
    ],
  ] as const;
  test.for(missing)(
    '%s is looked for, and the failure says what to do [E15 E16]',
    async ([, options, message, hint]) => {
      const failure = open(options()).probe('sonnet', new AbortController().signal);
      await expect(failure).rejects.toMatchObject({
        kind: 'spawn',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      });
    },
  );
});
