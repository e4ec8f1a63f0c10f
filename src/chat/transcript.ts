import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../lib/json.ts';
import { errorMessage, UserError } from '../lib/error.ts';
import { didYouMean } from '../lib/suggest.ts';
import { sentValuesSchema } from '../llm/egress/sent-values.ts';
import type { PastTurn, TurnResult } from '../llm/port/session.ts';
import type { QueryEvidence } from '../llm/port/tool-call.ts';
import { createPrivateFolder, ensureStateDirectory, projectPaths } from '../store/directories.ts';
import { undefinedIfMissing, readAnyText } from '../store/files.ts';
import { createPrivateFile } from '../store/ownership/private-files.ts';

/**
 * Keeps a conversation in `.ktx/chats/<id>.jsonl`. Independent of the backend; only its owner can
 * read it.
 */
export interface Transcript {
  readonly id: string;
  /** Writes a turn. Returns the reason if it could not be written. */
  keep(turn: TranscriptTurn): Promise<string | undefined>;
}

interface TranscriptTurn {
  readonly agent: string;
  readonly backend: string;
  readonly model: string;
  readonly message: string;
  readonly result: TurnResult;
}

/** An earlier turn, with the queries that it rests on. */
export interface PastExchange extends PastTurn {
  readonly evidence: readonly QueryEvidence[];
}

/** An earlier conversation, read from its transcript. */
export interface PastConversation {
  readonly turns: readonly PastExchange[];
  /** Who answered last; undefined if nobody has, or an older ktx did not say. */
  readonly agent?: string | undefined;
  /** Number of evidence records. */
  readonly evidence: number;
}

export function openTranscript(projectDir: string, id: string): Transcript {
  const { chats } = ensureStateDirectory(projectDir);
  const path = join(chats, `${id}.jsonl`);
  return {
    id,
    async keep({ result, ...about }) {
      const { error, ...ended } = result;
      const failure = error && { code: error.code, message: error.message };
      const line = {
        type: 'turn',
        version: 1,
        at: new Date().toISOString(),
        ...about,
        result: { ...ended, error: failure },
      };
      try {
        createPrivateFolder(chats);
        createPrivateFile(path);
        await appendLine(path, `${JSON.stringify(line)}\n`);
        return undefined;
      } catch (writeError) {
        return errorMessage(writeError);
      }
    },
  };
}

/** Starts a new line first if a full disk or a killed process cut off the last one. */
async function appendLine(path: string, line: string): Promise<void> {
  const file = await open(path, 'a+');
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

const keptToolCallSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  ok: z.boolean(),
  summary: z.string(),
  ms: z.number(),
  input: z.unknown(),
  answer: z.string(),
  values: z.array(sentValuesSchema).optional().catch(undefined),
});
const keptEvidenceSchema = z.looseObject({
  id: z.string(),
  call: z.string(),
  tool: z.string(),
  sql: z.string().optional(),
  connection: z.string().optional(),
  queryId: z.string().optional(),
  trust: z.record(z.string(), z.unknown()).optional(),
  columns: z.array(z.looseObject({ name: z.string(), type: z.string().optional() })),
  rows: z.array(z.array(z.unknown())),
  truncated: z.boolean(),
  warnings: z.array(z.string()).optional(),
  ms: z.number(),
});
const transcriptLineSchema = z.looseObject({
  type: z.literal('turn'),
  agent: z.string().optional().catch(undefined),
  message: z.string(),
  result: z.looseObject({
    text: z.string(),
    toolCalls: z.array(keptToolCallSchema),
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

/** Reads a transcript. Lines that were cut off by a full disk or a killed process are left out. */
export async function readTranscript(projectDir: string, id: string): Promise<PastConversation> {
  const { chats } = projectPaths(projectDir);
  const isValidId = /^[\w-]+$/.test(id);
  const text = isValidId ? await readAnyText(join(chats, `${id}.jsonl`), projectDir) : undefined;
  if (text === undefined) throw await unknownConversationError(projectDir, id);
  const lines = text
    .split('\n')
    .flatMap((line) => transcriptLineSchema.safeParse(parseJson(line)).data ?? []);
  const turns = lines.map(({ message, result }) => {
    const { text: answer, toolCalls, stopReason } = result;
    const evidence = result.evidence.flatMap(
      (query) => keptEvidenceSchema.safeParse(query).data ?? [],
    );
    return { message, text: answer, toolCalls, stopReason, evidence };
  });
  const agent = lines.at(-1)?.agent;
  return {
    turns,
    agent,
    evidence: lines.reduce((sum, { result }) => sum + result.evidence.length, 0),
  };
}

async function unknownConversationError(projectDir: string, id: string): Promise<UserError> {
  const ids = await transcriptIds(projectDir);
  const lastOne =
    ids.length === 0
      ? 'there are no conversations yet'
      : `the last one: ktx chat --resume ${ids.at(-1)}`;
  return new UserError('chat_unknown', `There is no conversation ${id}.`, {
    hint: didYouMean(id, ids) ?? lastOne,
    exitCode: 2,
  });
}

/** The ids of all conversations, oldest first: an id begins with its time. */
export async function transcriptIds(projectDir: string): Promise<readonly string[]> {
  const files = (await readdir(projectPaths(projectDir).chats).catch(undefinedIfMissing)) ?? [];
  return files
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.slice(0, -'.jsonl'.length))
    .sort();
}
