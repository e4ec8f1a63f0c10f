import type { Aggregate } from '../../sql/aggregates.ts';
import { queryError } from '../query/errors.ts';
import { pieceText } from '../relational/sql-piece.ts';
import type { AggregateNode } from './aggregate-node.ts';
import { resolveModelField, resolveQueryField } from './field-path.ts';
import type { JoinScope } from './join-scope.ts';

const needNumbers: ReadonlySet<Aggregate> = new Set([
  'sum',
  'avg',
  'median',
  'percentile',
  'percentile_disc',
]);

/**
 * Throws `text_aggregate` if an aggregate that computes with numbers is over a text field: SQLite
 * and MySQL would use the number at the start of the text, or 0, without an error.
 */
export function checkAggregateType(scope: JoinScope, { function: name, of }: AggregateNode): void {
  if (of === undefined || !needNumbers.has(name)) return;
  const text = pieceText(of).trim();
  const reference = of.fragment.references.find(
    ({ start, end }) => of.fragment.text.slice(start, end) === text,
  );
  if (reference === undefined) return;
  const { field, dataset } =
    of.home === undefined
      ? resolveQueryField(scope, reference.parts)
      : resolveModelField(scope, of.home, reference);
  if (field?.type !== 'string') return;
  const address = `${dataset.name}.${field.name}`;
  throw queryError('text_aggregate', `${name} needs numbers, and ${address} is text`, {
    hint: `If its texts are numbers, declare a number type in ${dataset.file}, with an expr that casts it.`,
    choices: [`count(distinct ${address})`],
  });
}
