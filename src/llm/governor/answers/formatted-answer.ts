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
}

const maxTries = 3;

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
