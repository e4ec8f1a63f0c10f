import { isWithin } from '../../sql/analyzer.ts';
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

/** What neither converts a text nor looks into it. */
const takesNumbers: ReadonlySet<string> = new Set(
  'abs and case coalesce else end ifnull iif in is not null nullif or round then when'.split(' '),
);
const readsText: ReadonlySet<string> = new Set(['like', 'glob', 'match', 'regexp', 'collate']);

/**
 * True if the aggregate computes with the numbers of its columns as they are stored. An argument
 * that calls other functions may convert their texts itself. Functions for percentiles check what
 * they get.
 */
export function needsNumbers({ function: name, of }: AggregateNode): boolean {
  if (of === undefined || !['sum', 'avg', 'min', 'max'].includes(name)) return false;
  const tokens = of.fragment.tokens.filter((token) => isWithin(token, of.span));
  return tokens.every((token, index) => {
    const isCall = token.kind === 'word' && tokens[index + 1]?.text === '(';
    return isCall ? takesNumbers.has(token.text) : token.text !== '|' && !readsText.has(token.text);
  });
}

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
