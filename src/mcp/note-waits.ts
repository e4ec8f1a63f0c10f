import type { CallToolResult } from '@modelcontextprotocol/server';
import { hearPlaceWaits } from '../warehouse/waits/place-waits.ts';
import type { RanCall } from './answer-call.ts';
import type { CallProgress } from './call-progress.ts';

/** Milliseconds that are worth a line. */
const shortestNote = 1000;
const waiting = 'waiting for a free connection to the warehouse: others are asking it';

/**
 * Runs a call, and tells its client that it waits for a place at the warehouse: as progress, and in
 * the answer.
 */
export async function noteWaits(
  progress: CallProgress | undefined,
  run: () => Promise<RanCall>,
): Promise<RanCall> {
  let waits = 0;
  let milliseconds = 0;
  const listener = {
    began(): void {
      waits += 1;
      progress?.reportWait(waiting);
    },
    ended(waited: number): void {
      waits -= 1;
      milliseconds = Math.max(milliseconds, waited);
      if (waits === 0) progress?.reportWait(undefined);
    },
  };
  const ran = await hearPlaceWaits(listener, run);
  return milliseconds < shortestNote ? ran : withNote(ran, Math.round(milliseconds / 1000));
}

function withNote({ result, ...ran }: RanCall, seconds: number): RanCall {
  // A question to the user has no answer yet.
  if (result.resultType === 'input_required') return { result, ...ran };
  const text = `This call waited ${seconds} s for a free connection to the warehouse.`;
  const answer = result as CallToolResult;
  const { structuredContent: structured } = answer;
  return {
    ...ran,
    result: {
      ...answer,
      content: [...answer.content, { type: 'text', text }],
      ...(structured !== undefined && { structuredContent: { ...structured, notes: [text] } }),
    },
  };
}
