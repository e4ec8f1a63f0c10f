import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../lib/json.ts';
import { projectPaths } from '../store/directories.ts';
import { readAnyText } from '../store/files.ts';
import { transcriptIds } from './transcript.ts';

/** A conversation, without its words. */
export interface ConversationCost {
  readonly id: string;
  /** ISO time of the last answer. */
  readonly at: string;
  readonly agent: string;
  readonly turns: number;
  /** US dollars; null if that of a turn is unknown. */
  readonly costUsd: number | null;
}

const turnSchema = z.object({
  type: z.literal('turn'),
  at: z.string(),
  agent: z.string(),
  result: z.object({ costUsd: z.number().nullable() }),
});

/** The last ones, newest first. Transcripts that cannot be read are left out. */
export async function listConversationCosts(
  projectDir: string,
  most: number,
): Promise<readonly ConversationCost[]> {
  const ids = (await transcriptIds(projectDir)).slice(-most).toReversed();
  const { chats } = projectPaths(projectDir);
  const found = ids.map(async (id) => {
    const text = (await readAnyText(join(chats, `${id}.jsonl`), projectDir)) ?? '';
    const turns = text
      .split('\n')
      .flatMap((line) => turnSchema.safeParse(parseJson(line)).data ?? []);
    const last = turns.at(-1);
    return last === undefined ? [] : [{ id, ...last, turns: turns.length, costUsd: sum(turns) }];
  });
  return (await Promise.all(found)).flat().map(({ id, at, agent, turns, costUsd }) => {
    return { id, at, agent, turns, costUsd };
  });
}

function sum(turns: readonly z.infer<typeof turnSchema>[]): number | null {
  const costs = turns.map(({ result }) => result.costUsd);
  const known = costs.filter((cost) => cost !== null);
  return known.length < costs.length ? null : known.reduce((total, cost) => total + cost, 0);
}
