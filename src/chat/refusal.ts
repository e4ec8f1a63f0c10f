import type { z } from 'zod';
import type { ToolCallRecord } from '../llm/port/session.ts';
import { cannotAnswer, refusalSchema } from '../tools/cannot-answer.ts';

/**
 * What an agent recorded that it has no answer; the last of a turn. Undefined if there is none, or
 * if ktx refused what it gave.
 */
export function findRefusal(
  calls: readonly Pick<ToolCallRecord, 'name' | 'input'>[],
): z.infer<typeof refusalSchema> | undefined {
  const call = calls.findLast(({ name }) => name === cannotAnswer.name);
  return refusalSchema.safeParse(call?.input).data;
}
