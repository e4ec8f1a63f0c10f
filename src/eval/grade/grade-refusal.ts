import { readNumbers } from '../../chat/grounding/numbers/read-numbers.ts';
import { findRefusal } from '../../chat/refusal.ts';
import type { GraderFinding } from '../run/outcome.ts';
import { countsPlaces, saysNoAnswer } from './refusal-phrases.ts';

/** What a definition ranges over: `promoters (9 or 10)`, `detractors (0 to 6)`. */
const ofDefinitions = /\(\d{1,4}\s*(?:to|or|and|bis|oder|und|à|ou|et|a|o|y|e|[-–])\s*\d{1,4}\)/giu;

/**
 * Passes if the agent says that it cannot answer, by calling `cannot_answer` or in words, and gives
 * no number: an answer with a number answers, whatever else it says. Years, numbers of the
 * question, and how many tables the agent looked at do not count. Queries may be cited: an agent
 * that looked may say where.
 */
export function gradeRefusal(
  text: string,
  question: string,
  calls: Parameters<typeof findRefusal>[0] = [],
): GraderFinding {
  const finding = (outcome: GraderFinding['outcome'], found: string): GraderFinding => ({
    grader: 'refuses',
    outcome,
    found,
  });
  const refusal = findRefusal(calls);
  if (refusal === undefined && !saysNoAnswer(text))
    return finding('fail', 'does not say that it cannot answer');
  const asked = new Set(
    readNumbers(question).flatMap(({ readings }) => readings.map(({ value }) => value)),
  );
  const prose = text.replaceAll(/\[q\d+(?:\s*,\s*q\d+)*\]/gi, ' ').replaceAll(ofDefinitions, ' ');
  const answered = readNumbers(prose).find(
    ({ end, isYear, readings }) =>
      !isYear &&
      !readings.some(({ value }) => asked.has(value)) &&
      !countsPlaces.test(prose.slice(end, end + 100)),
  );
  return answered === undefined
    ? finding(
        'pass',
        refusal === undefined
          ? 'says that it cannot answer'
          : `says that it cannot answer (${refusal.reason}): ${refusal.missing}`,
      )
    : finding('fail', `says that it cannot answer, and gives ${answered.text}`);
}
