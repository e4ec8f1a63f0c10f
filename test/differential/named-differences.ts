import { z } from 'zod';
import type { Block } from '../support/model-script.ts';
import type { Difference } from './outcome.ts';
import type { ResponseScript } from './response-script.ts';

interface NamedDifference {
  readonly name: string;
  readonly reason: string;
  /** A sentence of docs/llm.md that tells users. */
  readonly docs: string;
  readonly allows: (script: ResponseScript, difference: Difference) => boolean;
}

/** Everything in which backends may differ. */
export const namedDifferences: readonly NamedDifference[] = [
  {
    name: 'repair in the same step',
    reason: 'Claude Code owns its turns, so ktx cannot ask the repair model in the middle of one.',
    docs: 'Malformed tool calls are not corrected in the same step.',
    allows: ({ steps }, { subject, field }) =>
      subject === 'claude-code' &&
      (field === 'requests' || field === 'apiCalls') &&
      steps.some((step) => step.kind === 'reply' && step.blocks.some(isMalformed)),
  },
];

function isMalformed(block: Block): boolean {
  if (!('tool' in block) || block.tool !== 'look_up') return false;
  return block.json !== undefined || !z.object({ word: z.string() }).safeParse(block.input).success;
}

export function isNamed(script: ResponseScript, difference: Difference): boolean {
  return namedDifferences.some(({ allows }) => allows(script, difference));
}
