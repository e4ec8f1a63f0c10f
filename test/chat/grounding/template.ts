import type { QueryEvidence } from '../../../src/llm/port/tool-call.ts';
import type { Dice } from '../../conformance/seeded.ts';
import { type Part, Speaker } from './say.ts';

/** One way to answer, on one shape of evidence, in one language. */
export interface Template {
  readonly id: string;
  readonly locale: string;
  make(dice: Dice): HonestAnswer;
}

export interface HonestAnswer {
  readonly question: string;
  readonly parts: readonly Part[];
  readonly evidence: readonly QueryEvidence[];
}

/** Rows of a world have at least three entries; the types say so for the first ones. */
type Filled<World> = {
  readonly [Key in keyof World]: World[Key] extends readonly (infer Row extends object)[]
    ? Key extends 'evidence'
      ? World[Key]
      : readonly [Row, Row, Row, ...Row[]]
    : World[Key];
};

export function defineTemplate<World extends { readonly evidence: readonly QueryEvidence[] }>(
  id: string,
  locale: string,
  ...[draw, write]: [
    (dice: Dice) => World,
    (world: Filled<World>, say: Speaker) => Omit<HonestAnswer, 'evidence'>,
  ]
): Template {
  return {
    id,
    locale,
    make(dice) {
      const world = draw(dice);
      const said = write(world as unknown as Filled<World>, new Speaker(locale));
      return { ...said, evidence: world.evidence };
    },
  };
}

/** The values of the same column in the other rows. */
export function neighbours<Row extends object>(
  rows: readonly Row[],
  row: Row | undefined,
  key = 'revenue',
): Readonly<Record<string, readonly number[]>> {
  const values = rows.flatMap((other) => (other === row ? [] : Number(Reflect.get(other, key))));
  return { 'neighbour-row': values };
}

export function others<Row extends { readonly name: string }>(
  rows: readonly Row[],
  row: Row | undefined,
): readonly string[] {
  return rows.flatMap((other) => (other === row ? [] : other.name));
}

export function sumOf(rows: readonly object[], key = 'revenue'): number {
  return rows.reduce((sum, row) => sum + Number(Reflect.get(row, key)), 0);
}
