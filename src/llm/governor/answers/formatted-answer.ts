import { errorMessage } from '../../../lib/error.ts';
import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import { untrustedBlock } from '../../../lib/untrusted.ts';
import type { BackendSession, SessionTurn } from '../../port/backend.ts';
import { LlmError } from '../../port/error.ts';
import type { AnswerFormat } from '../../port/session.ts';
import { readPrompt } from '../../prompt.ts';

/** The answer to one message. `structured` is set if it was validated against an answer format. */
export interface SessionAnswer {
  readonly stopReason: 'budget' | 'natural';
  readonly text: string;
  readonly structured?: unknown;
  /** Set if the conversation of the backend does not end with this answer. */
  readonly isForgotten?: true;
}

const maxTries = 3;

/**
 * Asks once more if a check finds something wrong, and says so first. The first answer stays if the
 * steps of the turn do not suffice for another one, or if asking for it fails.
 */
export async function askChecked(
  backend: BackendSession,
  turn: SessionTurn,
  { check, warn, stepsUsed, isEnded }: AnswerCheck,
): Promise<SessionAnswer> {
  const first = await backend.turn(turn);
  const reason = first.stopReason === 'budget' ? undefined : check(first.text);
  if (reason === undefined) return first;
  const stepBudget = turn.stepBudget - stepsUsed();
  if (stepBudget < 1) return first;
  warn(`The citations of the answer were wrong; the model was asked once more. ${reason}`);
  const message = readPrompt('answer-citations', { reason: untrustedBlock('reason', reason) });
  const kept: SessionAnswer = { ...first, isForgotten: true };
  try {
    const second = await backend.turn({ ...turn, message, stepBudget });
    return second.stopReason === 'budget' ? kept : second;
  } catch (error) {
    if (isEnded()) throw error;
    warn(`There was no other answer, so the first one stays. ${errorMessage(error)}`);
    return kept;
  }
}

interface AnswerCheck {
  readonly check: (text: string) => string | undefined;
  readonly warn: (text: string) => void;
  /** Steps that the turn has taken so far. */
  readonly stepsUsed: () => number;
  /** True if the person ended the turn. */
  readonly isEnded: () => boolean;
}

/** Asks until the answer fits its format, at most three times. */
export async function askForAnswer(
  backend: BackendSession,
  turn: SessionTurn,
  format: AnswerFormat | undefined,
): Promise<SessionAnswer> {
  if (format === undefined) return backend.turn(turn);
  let { message } = turn;
  let reasons = '';
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { stopReason, text, object } = await backend.turn({ ...turn, message });
    if (stopReason === 'budget') return { stopReason, text };
    const { data, problems } = checkSchema(format.schema, object);
    if (problems === undefined) return { stopReason, text: JSON.stringify(data), structured: data };
    reasons = problems.slice(0, 5).map(problemText).join('\n');
    message = readPrompt('answer-refused', { reason: untrustedBlock('reason', reasons) });
  }
  throw new LlmError(
    'invalid_output',
    `The answer does not fit response_format: ${reasons.replaceAll('\n', '; ')}.`,
  );
}
