import type { QueryEvidence } from '../../../../src/llm/port/tool-call.ts';
import { Dice } from '../../../conformance/seeded.ts';
import type { BlindAnswer } from '../blind/answer.ts';

type Told = readonly [evidence: readonly QueryEvidence[], text: string];

/** A text of which the rows, and with them every number, are thrown anew for each seed. */
export interface Telling {
  readonly id: string;
  readonly question: string;
  readonly tell: (dice: Dice) => Told;
}

export function told(id: string, question: string, tell: (dice: Dice) => Told): Telling {
  return { id, question, tell };
}

/** Each text with the rows of two seeds. */
export function answersOf(tellings: readonly Telling[]): readonly BlindAnswer[] {
  return tellings.flatMap(({ id, question, tell }, index) =>
    [1, 2].map((seed) => {
      const [evidence, text] = tell(new Dice(index * 7919 + seed * 104_729));
      return { id: `${id}#${seed}`, question, evidence, text: paragraphs(text) };
    }),
  );
}

/** Lines of the source joined to paragraphs; list items, headings and table rows stay lines. */
function paragraphs(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .reduce((whole, line, index) => {
      const starts = /^([-*|#•>]|\d+[.)] |$)/.test(line) || /^$|\|$/.test(lines[index - 1] ?? '');
      return whole + (index === 0 ? '' : starts ? '\n' : ' ') + line;
    }, '')
    .trim();
}

type Ranked = readonly [string, number];

/** Names with values of a range, the largest first, each at least a thirtieth below the last. */
export function ranked(dice: Dice, names: string, [low, high]: readonly [number, number]) {
  const labels = names.split('|');
  const values = labels.map(() => dice.between(low, high)).sort((left, right) => right - left);
  return labels.map((label, index): Ranked => [
    label,
    Math.round((values[index] ?? 0) * (1 - index / 30)),
  ]);
}

/** Names with values in the order given, each between 0.75 and 1.3 times the one before. */
export function walk(dice: Dice, names: string, start: number): readonly Ranked[] {
  let value = dice.between(Math.round(start * 0.6), Math.round(start * 1.6));
  return names.split('|').map((label): Ranked => {
    const made = [label, value] as const;
    const step = dice.between(3, 30) / 100;
    value = Math.round(value * (dice.next() < 0.6 ? 1 + step : 1 - step * 0.8));
    return made;
  });
}

export const sum = (rows: readonly Ranked[]) => rows.reduce((total, [, value]) => total + value, 0);

/** The row at a place; a text that names a place that is not there is a mistake of the set. */
export function at<Row>(rows: readonly Row[], index: number): Row {
  const row = rows.at(index);
  if (row === undefined) throw new Error(`no row ${index}`);
  return row;
}

/** A direction and, where it is wrong, the other one. */
export const way = (from: number, to: number, [up, down]: readonly [string, string]) =>
  to >= from ? `{d:${up}~${down}}` : `{d:${down}~${up}}`;

export const growth = (from: number, to: number) => (to - from) / from;
