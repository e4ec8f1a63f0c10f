import type { Expectation } from '../cases/question-set-schema.ts';
import type { GraderFinding } from '../run/outcome.ts';
import { numbersInAnswer } from './numbers-in-text.ts';

type TextRule = NonNullable<Expectation['text']>;

/** Grades the text of an answer. Citations such as [q3] do not count as numbers. */
export function gradeText(text: string, rule: TextRule): readonly GraderFinding[] {
  const { number, contains = [], not_contains: excluded = [], matches } = rule;
  const says = (part: string) => text.toLowerCase().includes(part.toLowerCase());
  return [
    ...(number === undefined ? [] : [gradeNumber(text, number)]),
    ...contains.map((part) =>
      textFinding(says(part), `${says(part) ? 'says' : 'does not say'} ${JSON.stringify(part)}`),
    ),
    ...excluded.map((part) =>
      textFinding(!says(part), `${says(part) ? 'says' : 'does not say'} ${JSON.stringify(part)}`),
    ),
    ...(matches === undefined ? [] : [gradePattern(text, matches)]),
  ];
}

function gradePattern(text: string, pattern: string): GraderFinding {
  const isMatch = new RegExp(pattern, 'iu').test(text);
  return textFinding(isMatch, `${isMatch ? 'matches' : 'does not match'} /${pattern}/`);
}

function gradeNumber(
  text: string,
  { value, rel, abs }: NonNullable<TextRule['number']>,
): GraderFinding {
  const numbers = numbersInAnswer(text);
  const tolerance = Math.max(abs, rel * Math.abs(value)) + 1e-12;
  const isStated = numbers.some((number) => Math.abs(number - value) <= tolerance);
  return textFinding(
    isStated,
    isStated
      ? `says ${value}`
      : `does not say ${value}; it says ${numbers.slice(0, 8).join(', ') || 'no number'}`,
  );
}

function textFinding(isPass: boolean, found: string): GraderFinding {
  return { grader: 'text', outcome: isPass ? 'pass' : 'fail', found };
}

/** Phrases in which an agent says that it has no answer. */
const refusalPhrases =
  /\b(?:cannot|can['’]?t|could not|couldn['’]t|unable|not able|no (?:data|metric|column|field|table|definition|information|record)|there (?:is|are) no|(?:is|are)(?: not|n['’]t) (?:available|recorded|tracked|stored|in the data|there|measured|defined)|(?:does|do)(?: not|n['’]t) (?:have|hold|contain|record|track|store|measure|know|exist)|not in (?:the|our|this) (?:data|warehouse)|not (?:available|recorded|tracked|measured))\b/iu;

/** Passes if the answer says that it cannot answer and cites no query. */
export function gradeRefusal(text: string, cited: readonly string[]): GraderFinding {
  const isRefusal = refusalPhrases.test(text);
  const withoutCitation = isRefusal
    ? 'says that it cannot answer'
    : 'does not say that it cannot answer';
  return {
    grader: 'refuses',
    outcome: isRefusal && cited.length === 0 ? 'pass' : 'fail',
    found: cited.length > 0 ? `answers and cites ${cited.join(', ')}` : withoutCitation,
  };
}
