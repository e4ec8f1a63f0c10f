import { createHash } from 'node:crypto';
import { knownPeriods } from '../../../../src/chat/grounding/dates/known-periods.ts';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import { Dice } from '../../../conformance/seeded.ts';
import type { BlindAnswer } from './answer.ts';
import { faultsOf, plainText } from './faults.ts';

/** By the text: answers of one text with the rows of several seeds are of the same half. */
export const halfOf = ({ id }: BlindAnswer): 'tuned' | 'aside' =>
  (createHash('sha256')
    .update(id.split('#')[0] ?? id)
    .digest()[0] ?? 0) %
    2 ===
  0
    ? 'tuned'
    : 'aside';

/** Faults of names and directions change no number. */
const isOfNumbers = (operator: string) => !/member|wrong-period|wrong-direction/.test(operator);

/** The statements of the answers have no limits: where no row has a date, none can be checked. */
const saysTimes = ({ evidence }: BlindAnswer): boolean =>
  evidence.some((query) => {
    const { periods, months } = knownPeriods(query);
    return periods.length + months.size > 0;
  });

export function figures(own: readonly BlindAnswer[]) {
  const ungrounded = (answer: BlindAnswer, text: string) =>
    groundAnswer({ ...answer, text }).filter(({ status }) => status === 'ungrounded');
  const claims = own.flatMap((answer) =>
    groundAnswer({ ...answer, text: plainText(answer.text) })
      .filter(({ kind }) => kind !== 'date' || saysTimes(answer))
      // Names that rows have would make the marks look rare.
      .filter(({ kind, status }) => kind !== 'member' || status !== 'cell')
      .map((claim) => ({ ...claim, answer })),
  );
  const marked = claims.filter(({ status }) => status === 'ungrounded');
  const faulty = own.flatMap((answer) =>
    faultsOf(answer.text, new Dice(answer.id.length)).map((fault) => {
      const [from, to] = fault.span;
      const found = ungrounded(answer, fault.text);
      const isAnywhere = fault.operator === 'wrong-citation';
      return {
        ...fault,
        isNoticed: found.some(({ span }) => isAnywhere || (span[0] < to && from < span[1])),
      };
    }),
  );
  const wrong = faulty.filter(({ operator }) => isOfNumbers(operator));
  return {
    falseMarks: marked.length / claims.length,
    recall: wrong.filter(({ isNoticed }) => isNoticed).length / wrong.length,
    missed: wrong.filter(({ isNoticed }) => !isNoticed),
    named: marked.map(({ answer, text }) => `${answer.id}: ${text}`).join('; '),
  };
}
