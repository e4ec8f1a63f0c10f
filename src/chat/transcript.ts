import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../lib/json.ts';
import { errorMessage, UserError } from '../lib/error.ts';
import { didYouMean } from '../lib/suggest.ts';
import type { PastTurn, TurnResult } from '../llm/port/session.ts';
import { ensureStateDirectory, projectPaths } from '../store/directories.ts';
import { absent, readAnyText } from '../store/files.ts';

/** `.ktx/chats/<id>.jsonl`: what was said and done, without anything of a backend; only its owner can read it. */
export interface Transcript {
  readonly id: string;
  /** Undefined where it was kept; else why not. */
  keep(turn: KeptTurn): Promise<string | undefined>;
}

interface KeptTurn {
  readonly agent: string;
  readonly backend: string;
  readonly model: string;
  readonly message: string;
  readonly result: TurnResult;
}

export interface Past {
  readonly turns: readonly PastTurn[];
  /** How much evidence it holds. */
  readonly evidence: number;
}

export function openTranscript(projectDir: string, id: string): Transcript {
  const { chats } = ensureStateDirectory(projectDir);
  const path = join(chats, `${id}.jsonl`);
  return {
    id,
    async keep({ result, ...about }) {
      const { error, ...kept } = result;
      const failure = error && { code: error.code, message: error.message };
      const line = {
        type: 'turn',
        version: 1,
        at: new Date().toISOString(),
        ...about,
        result: { ...kept, error: failure },
      };
      try {
        await mkdir(chats, { recursive: true, mode: 0o700 });
        await append(path, `${JSON.stringify(line)}\n`);
        return undefined;
      } catch (failed) {
        return errorMessage(failed);
      }
    },
  };
}

/** A line that a full disk or a killed process cut off stays what it is: the next one begins behind it. */
async function append(path: string, line: string): Promise<void> {
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const end = Buffer.from('\n');
    if (size > 0) await file.read(end, 0, 1, size - 1);
    await file.appendFile(end.toString() === '\n' ? line : `\n${line}`);
    await file.sync();
  } finally {
    await file.close();
  }
}

const callSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  ok: z.boolean(),
  summary: z.string(),
  ms: z.number(),
  input: z.unknown(),
  answer: z.string(),
});
const lineSchema = z.looseObject({
  type: z.literal('turn'),
  message: z.string(),
  result: z.looseObject({
    text: z.string(),
    toolCalls: z.array(callSchema),
    evidence: z.array(z.unknown()),
    stopReason: z.enum([
      'completed',
      'max_turns',
      'budget',
      'timeout',
      'interrupted',
      'denied',
      'error',
    ]),
  }),
});

/** A conversation that was kept; a line that a full disk or a killed process cut off is left out. */
export async function readTranscript(projectDir: string, id: string): Promise<Past> {
  const { chats } = projectPaths(projectDir);
  const isId = /^[\w-]+$/.test(id);
  const text = isId ? await readAnyText(join(chats, `${id}.jsonl`), projectDir) : undefined;
  if (text === undefined) {
    const ids = await transcriptIds(projectDir);
    const hint =
      ids.length === 0
        ? 'nothing was kept yet'
        : (didYouMean(id, ids) ?? `the last one: ktx chat --resume ${ids.at(-1)}`);
    throw new UserError('chat_unknown', `There is no conversation ${id}.`, { hint, exitCode: 2 });
  }
  const lines = text
    .split('\n')
    .flatMap((line) => lineSchema.safeParse(parseJson(line)).data ?? []);
  const turns = lines.map(({ message, result: { text: said, toolCalls, stopReason } }) => ({
    message,
    text: said,
    toolCalls,
    stopReason,
  }));
  return { turns, evidence: lines.reduce((sum, { result }) => sum + result.evidence.length, 0) };
}

/** Of all conversations, oldest first: an id begins with its time. */
export async function transcriptIds(projectDir: string): Promise<readonly string[]> {
  const names = (await readdir(projectPaths(projectDir).chats).catch(absent)) ?? [];
  return names
    .flatMap((name) => (name.endsWith('.jsonl') ? [name.slice(0, -'.jsonl'.length)] : []))
    .sort();
}
