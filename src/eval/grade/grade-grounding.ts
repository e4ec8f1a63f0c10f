import { groundAnswer, type AnswerToGround } from '../../chat/grounding/ground-answer.ts';
import type { Expectation } from '../cases/question-set-schema.ts';
import type { GraderFinding } from '../run/outcome.ts';

/** As the case says; without a word about it, wherever rows are graded. */
export function isGroundingGraded({ grounded, result }: Expectation): boolean {
  return grounded ?? result !== undefined;
}

interface GradedAnswer extends AnswerToGround {
  /** The answer as data, if the agent has a `response_format`. */
  readonly structured?: unknown;
}

/** How many numbers a finding names. */
const maxNamed = 3;

/**
 * Passes if the rows of the conversation give every number of the answer, and every query that it
 * cites exists. An answer in the form of a `response_format` has no sentences to bind numbers in:
 * other rules grade it.
 */
export function gradeGrounding(answer: GradedAnswer): GraderFinding {
  const finding = (outcome: GraderFinding['outcome'], found: string): GraderFinding => ({
    grader: 'grounded',
    outcome,
    found,
  });
  if (answer.structured !== undefined) return finding('pass', 'the answer is data, not prose');
  const claims = groundAnswer(answer);
  const ungrounded = claims.filter(({ status }) => status === 'ungrounded');
  if (ungrounded.length === 0)
    return finding(
      'pass',
      `the rows give ${claims.length === 1 ? 'its number' : 'all its numbers'}`,
    );
  const named = ungrounded
    .slice(0, maxNamed)
    .map(({ text, reason }) => `${text} is ungrounded: ${reason}`);
  const more = ungrounded.length - named.length;
  return finding('fail', [...named, ...(more > 0 ? [`${more} more`] : [])].join('; '));
}
