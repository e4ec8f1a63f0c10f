import type { LinkFinding } from '../../context/catalog/catalog.ts';
import type { ColumnPairing } from '../facts/measure.ts';

type InferredJudgement = Pick<LinkFinding, 'status' | 'probability'> & {
  readonly evidence: Readonly<Record<string, string | number | boolean | undefined>>;
};

/**
 * A many-to-one link between the columns. Undefined evidence is dropped, and numbers are rounded to
 * four digits.
 */
export function inferredLink(
  { from, to }: ColumnPairing,
  { evidence, ...judgement }: InferredJudgement,
): LinkFinding {
  const round = (value: number): number => Math.round(value * 10_000) / 10_000;
  const rounded = Object.entries(evidence).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name, typeof value === 'number' ? round(value) : value] as const];
  });
  return {
    from: linkEnd(from),
    to: linkEnd(to),
    origin: 'inferred',
    cardinality: 'many_to_one',
    ...judgement,
    evidence: Object.fromEntries(rounded),
  };
}

function linkEnd(columns: ColumnPairing['to']): LinkFinding['to'] {
  return { table: columns[0].table.ref, columns: columns.map(({ name }) => name) };
}
