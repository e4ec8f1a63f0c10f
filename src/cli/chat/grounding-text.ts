import { groundAnswer, type GroundedClaim } from '../../chat/grounding/ground-answer.ts';
import { UserError } from '../../lib/error.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';

interface AskedTurn {
  readonly result: TurnResult;
  /** What the person has said in the conversation. */
  readonly question: string;
  /** The queries of earlier turns. */
  readonly earlier?: readonly QueryEvidence[];
}

/** What the numbers of an answer rest on. Undefined for answers as data. */
export function groundTurn({
  result,
  question,
  earlier = [],
}: AskedTurn): readonly GroundedClaim[] | undefined {
  if (result.structured !== undefined) return undefined;
  const evidence = [...earlier, ...result.evidence];
  return groundAnswer({ text: result.text, question, evidence });
}

function ungroundedOf(claims: readonly GroundedClaim[] = []): readonly GroundedClaim[] {
  return claims.filter(({ status }) => status === 'ungrounded');
}

const mostLines = 8;

/** A line for each number that nothing explains; none if there is no such number. */
export function groundingLines(claims: readonly GroundedClaim[] | undefined): readonly string[] {
  const ungrounded = ungroundedOf(claims);
  const lines = ungrounded
    .slice(0, mostLines)
    .map(({ text, reason = '' }) => `not grounded: ${text} (${reason})`);
  const rest = ungrounded.length - lines.length;
  return rest > 0 ? [...lines, `… and ${rest} more`] : lines;
}

/** The failure of `--require-grounded`. */
export function ungroundedFailure(
  claims: readonly GroundedClaim[] | undefined,
): UserError | undefined {
  const ungrounded = ungroundedOf(claims);
  if (ungrounded.length === 0) return undefined;
  const texts = ungrounded.slice(0, mostLines).map(({ text }) => text);
  return new UserError('ungrounded', `The answer has what no query gives: ${texts.join(', ')}.`, {
    hint: 'ask again, or for the query behind it; --output-format json lists every number with its evidence',
    exitCode: 3,
  });
}
