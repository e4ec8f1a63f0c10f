import { quoteName } from '../../semantic/formats/metricflow/mapping/bound-model.ts';
import type { FieldType } from '../../sql/field-type.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Clause, ClauseArgument } from './read-query.ts';

export interface QueryFields {
  readonly dialect: Dialect;
  /**
   * A field by its number in Metabase, or its name where a question is read; of a joined table with
   * the alias of the join.
   */
  readonly fieldOf: (id: number | string, alias?: string) => MetricField | undefined;
  /** The filters of a segment of the table, by its number; undefined for any other. */
  readonly segmentOf?: (id: number) => readonly Clause[] | undefined;
  /** True if weeks begin on Mondays, as those of ktx do. Default: nobody knows. */
  readonly hasMondayWeeks?: boolean;
}

export interface MetricField {
  readonly name: string;
  /** As the SQL writes it. Default: its name. */
  readonly sql?: string;
  /** In the table; undefined for what is no column. */
  readonly column?: string | undefined;
  readonly type: FieldType;
  /** Metabase computes with other values than the column has, like times of numbers. */
  readonly isCoerced: boolean;
}

/** A part of a query that ktx cannot say. */
export class UnsaidQuery extends Error {}

const comparisons = new Set(['<', '<=', '>', '>=']);

/** A filter as a condition of SQL. */
export function conditionSql(clause: Clause, fields: QueryFields): string {
  const { op, args } = clause;
  const inner = () =>
    args.map((arg) => {
      if (arg.kind === 'clause') return conditionSql(arg.clause, fields);
      throw new UnsaidQuery(`the filter ${op} over a value`);
    });
  if (op === 'and' || op === 'or') return `(${inner().join(` ${op.toUpperCase()} `)})`;
  return op === 'segment' ? segmentSql(args[0], fields) : comparisonSql(clause, fields);
}

/** A filter of one field. */
function comparisonSql({ op, args, options }: Clause, fields: QueryFields): string {
  const [subject, ...values] = args;
  const read = readField(subject, fields);
  const field = writtenField(read);
  const literals = values.map((value) => literalSql(value, read, fields));
  const [first, second] = literals;
  const isCaseSensitive = Object.keys(options).every((key) => !key.includes('case-sensitive'));
  if (first === undefined) {
    if (op === 'is-null') return `${field} IS NULL`;
    if (op === 'not-null') return `${field} IS NOT NULL`;
  } else if (op === '=' && isCaseSensitive) {
    return literals.length === 1 ? `${field} = ${first}` : `${field} IN (${literals.join(', ')})`;
  } else if (op === '!=' && isCaseSensitive) {
    // Metabase keeps the rows without a value.
    return `(${field} NOT IN (${literals.join(', ')}) OR ${field} IS NULL)`;
  } else if (comparisons.has(op) && second === undefined) {
    return `${field} ${op} ${first}`;
  } else if (op === 'between' && literals.length === 2) {
    return `${field} BETWEEN ${first} AND ${second}`;
  }
  throw new UnsaidQuery(`the filter ${op}`);
}

function segmentSql(id: ClauseArgument | undefined, fields: QueryFields): string {
  const number = id?.kind === 'value' && typeof id.value === 'number' ? id.value : -1;
  const filters = fields.segmentOf?.(number);
  if (filters === undefined || filters.length === 0)
    throw new UnsaidQuery(`the segment ${number}, which is not one of the table`);
  // A segment that uses others could use itself.
  const plain: QueryFields = { ...fields, segmentOf: () => undefined };
  return `(${filters.map((filter) => conditionSql(filter, plain)).join(' AND ')})`;
}

/** Options of a field that change which value is meant. */
const meaningful = ['source-field', 'binning', 'temporal-unit'];

/** The field as the SQL writes it. */
export function fieldSql(arg: ClauseArgument | undefined, fields: QueryFields): string {
  return writtenField(readField(arg, fields));
}

function writtenField({ sql, name }: MetricField): string {
  return sql ?? quoteName(name);
}

export function readField(arg: ClauseArgument | undefined, { fieldOf }: QueryFields): MetricField {
  if (arg?.kind !== 'clause' || !['field', 'field-id'].includes(arg.clause.op))
    throw new UnsaidQuery('an expression');
  const { args, options } = arg.clause;
  const other = meaningful.find(
    (key) => options[key] !== undefined && options[key] !== null && options[key] !== 'default',
  );
  if (other !== undefined) throw new UnsaidQuery(`a field with ${other}`);
  const [id] = args;
  const key = id?.kind === 'value' ? id.value : undefined;
  const alias = options['join-alias'];
  const field =
    typeof key === 'number' || typeof key === 'string'
      ? fieldOf(key, typeof alias === 'string' ? alias : undefined)
      : undefined;
  if (field === undefined) throw new UnsaidQuery('a field that the table does not have');
  if (field.isCoerced) throw new UnsaidQuery('a field whose values Metabase converts');
  return field;
}

function literalSql(
  arg: ClauseArgument,
  { name, type }: MetricField,
  { dialect }: QueryFields,
): string {
  const value = arg.kind === 'value' ? arg.value : undefined;
  // Metabase compares a day with the day of a time, and a time in the time zone of its reports.
  if (typeof value === 'string' && /^\d{4}-\d{2}/.test(value) && type !== 'date')
    throw new UnsaidQuery(`the day or time ${value} against ${name}, which is not a date`);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return dialect.literal(value);
  throw new UnsaidQuery('a filter with a computed value');
}
