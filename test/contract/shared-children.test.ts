import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openClaudeCodeBackend } from '../../src/llm/claude-code/backend.ts';
import { canClear } from '../../src/llm/claude-code/child/clear-conversation.ts';
import { LlmError } from '../../src/llm/port/error.ts';
import type { CallMonitor, LoopCall, ModelBackend } from '../../src/llm/port/backend.ts';
import { silentMonitor } from '../../src/llm/port/silent-monitor.ts';
import { claudeBinary, type ClaudeHome, makeClaudeHome } from '../support/claude-home.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { fail, give, type ModelCall, reply, say, use } from '../support/model-script.ts';

const binary = claudeBinary();
const version = (
  binary === undefined ? '' : execFileSync(binary, ['--version'], { encoding: 'utf8' })
)
  .trim()
  .split(/[. ]/)
  .slice(0, 3)
  .map(Number);
const isShared = binary !== undefined && canClear(version);
const why =
  binary === undefined
    ? `no Claude Code binary for ${process.platform}-${process.arch}`
    : `program ${version.join('.')} serves one call a child`;
const title = isShared ? '' : `, skipped: ${why}`;
const schema = z.object({ answer: z.string() });

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

/** The program behind one that keeps what each process reads, in a file named by the process. */
async function recorded(): Promise<string> {
  const wrapper = join(dirname(machine.home), 'claude');
  await writeFile(wrapper, `#!/bin/bash\nexec '${binary}' "$@" < <(tee '${runs}'/$$)\n`);
  await chmod(wrapper, 0o755);
  return wrapper;
}

async function open(concurrency = 1): Promise<ModelBackend> {
  const executable = await recorded();
  const { projectDir, env } = machine;
  const backend = openClaudeCodeBackend({ projectDir, env, executable, concurrency });
  backends.push(backend);
  return backend;
}

const started = async (): Promise<number> => (await readdir(runs)).length;

function call(prompt: string, rest: Partial<LoopCall> = {}) {
  const { signal } = new AbortController();
  return {
    role: 'triage' as const,
    model: 'sonnet',
    prompt,
    system: 'S',
    tools: {},
    temperature: undefined,
    tags: {},
    monitor: silentMonitor(signal),
    stepBudget: 4,
    ...rest,
  };
}

const toolsWith = (description: string) => ({
  read_note: {
    name: 'read_note',
    description,
    inputSchema: z.object({}),
    execute: () => Promise.resolve({ markdown: 'Noted.' }),
  },
});

/** Everything that a request sends, without what is the same for every call of the machine. */
function everythingSent(from: number): string[] {
  return endpoint.requests
    .slice(from)
    .filter(({ path }) => path.startsWith('/v1/messages'))
    .map(({ text, headers }) => text + JSON.stringify(headers));
}
const sessionOf = (text: string): string | undefined =>
  /session_id\\+":\\+"([\w-]{36})/.exec(text)?.[1];
const identifiers = (text: string): string[] =>
  [...text.matchAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g)].map(([id]) => id);

describe.skipIf(!isShared)(`a Claude Code child that serves several calls${title}`, () => {
  test('sends no byte of an earlier call with a later one, of texts and of objects [E1]', async () => {
    const backend = await open();
    const secrets: string[] = [];
    let calls = 0;
    endpoint.fallback = ({ wantsObject, objectTaken }) => {
      calls += 1;
      const answer = `ANSWER-SECRET-${calls}-END`;
      secrets.push(answer);
      if (!wantsObject)
        return reply([{ thinking: `THOUGHT-SECRET-${calls}-END` }, { text: answer }]);
      return objectTaken ? say('Done.') : give({ answer });
    };
    const bodies: Record<string, unknown>[] = [];
    for (const kind of ['text', 'object'] as const) {
      const sessions = new Set<string | undefined>();
      let before: string[] = [];
      for (let round = 1; round <= 4; round += 1) {
        const from = endpoint.requests.length;
        const prompt = `PROMPT-SECRET-${kind}-${round}-END of ${'a long page. '.repeat(50)}`;
        if (kind === 'text') await backend.text(call(prompt));
        else await backend.object({ ...call(prompt), schema });
        const sent = everythingSent(from);
        expect(sent.length).toBeGreaterThan(0);
        for (const text of sent) {
          const marks = [...text.matchAll(/(?:PROMPT|ANSWER|THOUGHT)-SECRET-[\w-]*?END/g)];
          expect(new Set(marks.map(([mark]) => mark))).toEqual(
            new Set([`PROMPT-SECRET-${kind}-${round}-END`]),
          );
          expect(identifiers(text).filter((id) => before.includes(id))).toEqual([]);
          sessions.add(sessionOf(text));
          bodies.push(JSON.parse(text.slice(0, text.lastIndexOf('}{') + 1)));
        }
        before = [...before, ...sent.flatMap(identifiers)];
      }
      expect(sessions.size).toBe(4);
      expect([...sessions]).not.toContain(undefined);
    }
    expect(secrets.length).toBeGreaterThanOrEqual(8);
    // One child each for texts and for objects.
    expect(await started()).toBe(2);
    for (const { diagnostics } of bodies)
      expect(diagnostics).toEqual({ previous_message_id: null });
  });

  test('runs the tools of each loop alone, and sends nothing of an earlier one [E1 A4]', async () => {
    const backend = await open();
    endpoint.fallback = ({ results, n, messages }) => {
      const [, round] = /PROMPT-(\d)-END/.exec(messages.map(({ text }) => text).join()) ?? [];
      return results.length < 1
        ? use('read_note', { word: `INPUT-${round}-END` })
        : reply([{ thinking: `THOUGHT-${round}-END` }, { text: `ANSWER-${round}-${n}-END` }]);
    };
    const seen: string[] = [];
    const sessions = new Set<string | undefined>();
    let before: string[] = [];
    for (let round = 1; round <= 4; round += 1) {
      const from = endpoint.requests.length;
      const ran: unknown[] = [];
      const read_note = {
        name: 'read_note',
        description: 'Reads the note.',
        inputSchema: z.object({ word: z.string() }),
        execute: (input: unknown) => {
          ran.push(input);
          return Promise.resolve({ markdown: `RESULT-${round}-END` });
        },
      };
      const { text } = await backend.loop(call(`PROMPT-${round}-END`, { tools: { read_note } }));
      expect(text).toMatch(`ANSWER-${round}`);
      // Each loop runs the tools that it was given, which know of this loop.
      expect(ran).toEqual([{ word: `INPUT-${round}-END` }]);
      const sent = everythingSent(from);
      expect(sent).toHaveLength(2);
      const marks = sent.flatMap((one) => one.match(/[A-Z]+-\d(?:-\d+)?-END/g) ?? []);
      expect(marks).toContain(`RESULT-${round}-END`);
      expect(marks.filter((mark) => !mark.includes(`-${round}-`))).toEqual([]);
      // Of the two requests of a loop, only the message is told to follow on the other.
      const [first = ''] = sent;
      expect(identifiers(first).filter((id) => before.includes(id))).toEqual([]);
      before = [...before, ...sent.flatMap(identifiers)];
      sessions.add(sessionOf(first));
      const body = JSON.parse(first.slice(0, first.lastIndexOf('}{') + 1)) as ModelCall['body'];
      expect(body['diagnostics']).toEqual({ previous_message_id: null });
      const { messages: _, metadata: __, system: ___, ...rest } = body;
      seen.push(JSON.stringify(rest));
    }
    expect(sessions.size).toBe(4);
    // The tools and everything else are told the same.
    expect(new Set(seen).size).toBe(1);
    expect(await started()).toBe(1);
  });

  test('sends the same as a new child, beside the note that the conversation was cleared [E1]', async () => {
    const backend = await open();
    endpoint.fallback = () => say('Yes.');
    const ask = async (prompt: string): Promise<ModelCall['body']> => {
      const from = endpoint.requests.length;
      await backend.text(call(prompt));
      const [{ text } = { text: '{}' }] = endpoint.requests
        .slice(from)
        .filter(({ path }) => path.startsWith('/v1/messages'));
      return JSON.parse(text) as ModelCall['body'];
    };
    const first = await ask('The same question.');
    const second = await ask('The same question.');
    const { messages: newMessages, system: newSystem, metadata: _, ...newRest } = first;
    const { messages, system, metadata: __, ...rest } = second;
    expect(rest).toEqual(newRest);
    const blocks = (value: unknown) => value as readonly Record<string, unknown>[];
    // The first block has the number of the call.
    expect(blocks(system).slice(1)).toEqual(blocks(newSystem).slice(1));
    expect(blocks(messages).slice(1)).toEqual(blocks(newMessages).slice(1));
    const [user] = blocks(messages);
    const texts = blocks(user?.['content']).map(({ text }) => String(text));
    const [fresh] = blocks(newMessages);
    expect(texts.at(-1)).toBe(fresh?.['content']);
    for (const text of texts.slice(0, -1))
      expect(text).toMatch(/^<(?:local-command-caveat|command-name|local-command-stdout)>/);
    expect(texts.slice(0, -1).join('').match(/\/\w+/g)).toContain('/clear');
  });

  test('reads every prompt as text: commands and files in it are neither run nor read [T6 I20]', async () => {
    await writeFile(join(machine.projectDir, 'secret.txt'), 'SECRET-OF-A-FILE');
    const tools = toolsWith('Reads the note.');
    const backend = await open(2);
    endpoint.fallback = () => say('Read.');
    for (const prompt of [
      '/clear',
      '/compact',
      '@secret.txt',
      '!touch mark',
      'Look: @secret.txt',
    ]) {
      expect(await backend.text(call(prompt))).toBe('Read.');
      expect(await backend.loop(call(prompt, { tools }))).toMatchObject({ text: 'Read.' });
    }
    expect(everythingSent(0).join('\n')).not.toContain('SECRET-OF-A-FILE');
    expect(everythingSent(0)).toHaveLength(10);
    const read = await Promise.all(
      (await readdir(runs)).map((name) => readFile(join(runs, name), 'utf8')),
    );
    const messages = read
      .flatMap((text) => text.trim().split('\n'))
      .map((line) => JSON.parse(line) as { type: string; client_composed?: true; message?: object })
      .filter(({ type }) => type === 'user');
    const marked = messages.filter(({ client_composed: isMarked }) => isMarked === true);
    expect(marked).toHaveLength(10);
    for (const message of messages.filter((one) => !marked.includes(one)))
      expect(message).toMatchObject({ message: { role: 'user', content: '/clear' } });
  });

  test('reports the tokens and the cost of each call alone', async () => {
    const backend = await open();

    const running = endpoint.start(({ n }) => say('Yes.', { usage: { input: 1000 * n } }));
    const inputs: number[] = [];
    const addUsage: CallMonitor['addUsage'] = (_model, { input }) => void inputs.push(input);
    for (let round = 0; round < 3; round += 1) {
      const { monitor } = call('');
      await backend.text(call(running.marker, { monitor: { ...monitor, addUsage } }));
    }
    expect(inputs).toEqual([1000, 2000, 3000]);
    expect(await started()).toBe(1);
  });

  test.each(['a failure', 'an abort'] as const)('ends after %s', async (what) => {
    const backend = await open();
    const broken = what === 'a failure' ? fail('no-model') : say('No.', { hang: 'mid-stream' });
    let isBroken = true;
    const running = endpoint.start(() => (isBroken ? broken : say('Yes.')));
    const controller = new AbortController();
    const monitor = silentMonitor(controller.signal);
    const failure = expect(backend.text(call(running.marker, { monitor }))).rejects;
    const checked = failure.toBeInstanceOf(LlmError);
    await running.arrived(1);
    if (what === 'an abort') controller.abort(new LlmError('aborted', 'Stopped.'));
    await checked;
    isBroken = false;
    expect(await backend.text(call(running.marker))).toBe('Yes.');
    expect(await started()).toBe(2);
  });

  test('is not shared by calls with other instructions', async () => {
    const backend = await open(8);
    endpoint.fallback = ({ tools, results }) =>
      tools.length > 0 && results.length === 0 ? use('read_note', {}) : say('Yes.');
    await backend.text(call('One.'));
    await backend.text(call('Two.', { system: 'T' }));
    await backend.loop(call('Three.', { tools: toolsWith('Reads the note.') }));
    await backend.loop(call('Four.', { tools: toolsWith('Reads a note.') }));
    await backend.text(call('Five.', { tools: toolsWith('Reads the note.'), stepBudget: 5 }));
    expect(await started()).toBe(5);
    await backend.loop(call('Six.', { tools: toolsWith('Reads a note.') }));
    expect(await started()).toBe(5);
  });

  test('names the account without a request, and then serves the probe of that model', async () => {
    const backend = await open();
    const { signal } = new AbortController();
    endpoint.fallback = () => say('ready');
    const account = await backend.account(signal, 'haiku');
    expect(everythingSent(0)).toEqual([]);
    expect((await backend.probe('haiku', signal)).account?.id).toBe(account?.id);
    expect(await started()).toBe(1);
    // A probe says whether a program starts and answers, so each is made by a new one.
    await backend.probe('haiku', signal);
    expect(await started()).toBe(2);
  });

  test('serves 25 calls at most', async () => {
    const backend = await open();
    endpoint.fallback = () => say('Yes.');
    for (let round = 0; round < 26; round += 1) await backend.text(call(`Question ${round}.`));
    expect(await started()).toBe(2);
  });

  test('is one of at most as many as calls may run at once, whatever the calls are', async () => {
    const backend = await open(2);
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, livingChildren())), 20);
    endpoint.fallback = () => say('Yes.');
    const queue = Array.from({ length: 8 }, (_, index) => `Question ${index}.`);
    const work = async (): Promise<void> => {
      for (let prompt = queue.shift(); prompt !== undefined; prompt = queue.shift())
        await backend.text(call(prompt, { system: `S${queue.length % 3}` }));
    };
    await Promise.all([work(), work()]);
    clearInterval(timer);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2);
  });
});

describe('a program that is too old', () => {
  test('or of an unknown version serves one call', () => {
    expect([undefined, [2, 1, 142], [2, 1, 324], [1, 9, 999]].filter(canClear)).toEqual([]);
    expect(
      [
        [2, 1, 325],
        [2, 1, 330],
        [2, 2, 0],
        [3, 0, 0],
      ].every(canClear),
    ).toBe(true);
  });
});

/**
 * Processes of the real program that this process started: the program forks itself now and then to
 * run another.
 */
function livingChildren(): number {
  const program = realpathSync(binary ?? '');
  return readdirSync('/proc').filter((pid) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const isOwn = new RegExp(`PPid:\\s+${process.pid}\n`).test(status);
      return isOwn && readlinkSync(`/proc/${pid}/exe`) === program;
    } catch {
      return false;
    }
  }).length;
}
