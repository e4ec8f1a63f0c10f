import { matchesPattern } from '../../lib/patterns/bounded-pattern.ts';
import type { Expectation } from '../cases/question-set-schema.ts';
import type { GraderFinding } from '../run/outcome.ts';
import { numbersInAnswer } from './numbers-in-text.ts';

type TextRule = NonNullable<Expectation['text']>;

/** Grades the text of an answer. Citations such as [q3] do not count as numbers. */
export function gradeText(text: string, rule: TextRule): readonly GraderFinding[] {
  const { number, contains = [], not_contains: excluded = [], matches } = rule;
  return [
    ...(number === undefined ? [] : [gradeNumber(text, number)]),
    ...contains.map((part) => gradePart(text, part, { isWanted: true })),
    ...excluded.map((part) => gradePart(text, part, { isWanted: false })),
    ...(matches === undefined ? [] : [gradePattern(text, matches)]),
  ];
}

/**
 * A part that is wanted must be in the text, another one must not. Upper and lower case are the
 * same.
 */
function gradePart(
  text: string,
  part: string,
  { isWanted }: { readonly isWanted: boolean },
): GraderFinding {
  const isSaid = text.toLowerCase().includes(part.toLowerCase());
  const found = `${isSaid ? 'says' : 'does not say'} ${JSON.stringify(part)}`;
  return textFinding(isSaid === isWanted, found);
}

function gradePattern(text: string, pattern: string): GraderFinding {
  const isMatch = matchesPattern(pattern, text);
  if (isMatch === undefined)
    return { grader: 'text', outcome: 'error', found: `/${pattern}/ takes too long` };
  return textFinding(isMatch, `${isMatch ? 'matches' : 'does not match'} /${pattern}/`);
}

/** Added to every tolerance, because a difference of doubles is not exact. */
const roundingError = 1e-12;

function gradeNumber(
  text: string,
  { value, rel, abs }: NonNullable<TextRule['number']>,
): GraderFinding {
  const numbers = numbersInAnswer(text);
  const tolerance = Math.max(abs, rel * Math.abs(value)) + roundingError;
  const isStated = numbers.some((number) => Math.abs(number - value) <= tolerance);
  if (isStated) return textFinding(true, `says ${value}`);
  const firstNumbers = numbers.slice(0, 8).join(', ') || 'no number';
  return textFinding(false, `does not say ${value}; it says ${firstNumbers}`);
}

function textFinding(isPass: boolean, found: string): GraderFinding {
  return { grader: 'text', outcome: isPass ? 'pass' : 'fail', found };
}
