import { UserError } from '../../../../lib/error.ts';
import type { Dialect } from '../../../../sql/dialect.ts';
import { type Fragment, parseFragment } from '../../../../sql/fragment.ts';
import type { ColumnReference } from '../../../../sql/column-references.ts';
import type { Dataset } from '../../../model/dataset.ts';
import type { ExpressionText } from '../../../model/schema-parts.ts';
import type { DatasetField } from '../../imported-model.ts';
import { replaceSpans, textForDialect, tryParseFragment } from '../../sql-fragment.ts';
import type { DbtNames } from './dbt-names.ts';
import { toDbtName } from './to-dbt-name.ts';

/** The datasets that are written together, and their names in dbt. */
export interface DbtExport {
  readonly dialect: Dialect;
  readonly datasets: ReadonlyMap<string, Dataset>;
  readonly names: DbtNames;
}

/** The export, at one of its datasets. */
export interface DatasetExport extends DbtExport {
  readonly home: Dataset;
}

export function parseForDialect(
  text: ExpressionText,
  { dialect }: Pick<DbtExport, 'dialect'>,
): Fragment | undefined {
  const sql = textForDialect(text, dialect);
  return sql === undefined ? undefined : tryParseFragment(sql, dialect);
}

/**
 * Why an expression cannot be written to dbt, whatever its names stand for; undefined if it can.
 */
export function findExportFault(
  text: ExpressionText | undefined,
  { dialect }: Pick<DbtExport, 'dialect'>,
): string | undefined {
  if (text === undefined) return undefined;
  const sql = textForDialect(text, dialect);
  if (sql === undefined) return `there is no expression for ${dialect.name}`;
  try {
    const { references } = parseFragment(sql, { dialect, origin: 'model' });
    const usesParameter = references.some(
      ({ parts: [first, ...rest] }) => first === 'param' && rest.length === 1,
    );
    return usesParameter ? 'dbt has no parameters' : undefined;
  } catch (error) {
    if (error instanceof UserError)
      return `ktx cannot read ${JSON.stringify(sql)}: ${error.message}`;
    throw error;
  }
}

/**
 * Row-level SQL over columns alone, with the expressions of fields written out; undefined if it
 * uses another dataset.
 */
export function columnSql(
  text: ExpressionText,
  context: DatasetExport,
  stack: readonly string[] = [],
): string | undefined {
  const fragment = parseForDialect(text, context);
  if (fragment === undefined || fragment.aggregates.length > 0) return undefined;
  return replaceReferences(fragment, (reference) => {
    const field = ownField(reference, context.home);
    if (field === undefined) return reference.parts.length === 1 ? reference.written : undefined;
    if (field.expr === undefined || stack.includes(field.name)) return reference.written;
    const inner = columnSql(field.expr, context, [...stack, field.name]);
    return inner === undefined || /^\w+$/.test(inner) ? inner : `(${inner})`;
  });
}

/**
 * A row filter as dbt's filter template; undefined if a name in it is neither a dimension nor an
 * entity.
 */
export function filterTemplate(text: ExpressionText, context: DatasetExport): string | undefined {
  const fragment = parseForDialect(text, context);
  return fragment && replaceReferences(fragment, (name) => referenceTemplate(name, context));
}

/**
 * Replaces each reference, and writes divisions so that they never truncate; undefined if a
 * reference has no replacement.
 */
export function replaceReferences(
  fragment: Fragment,
  sqlOf: (reference: ColumnReference) => string | undefined,
): string | undefined {
  if (fragment.metricCalls !== undefined) return undefined;
  const names = fragment.references.flatMap((reference) => {
    const sql = sqlOf(reference);
    return sql === undefined ? [] : [[reference, sql] as const];
  });
  if (names.length < fragment.references.length) return undefined;
  const divisions = fragment.divisions.map((operator) => [operator, '* 1.0 /'] as const);
  return replaceSpans(fragment.text, [...names, ...divisions]);
}

function ownField(
  { parts }: ColumnReference,
  { dataset, fields = [] }: Dataset,
): DatasetField | undefined {
  if (parts.length > 2 || (parts.length === 2 && parts[0] !== dataset)) return undefined;
  return fields.find(({ name }) => name === parts.at(-1));
}

/** `orders.buyer.country` as `{{ Dimension('buyer__country') }}`. */
function referenceTemplate(reference: ColumnReference, context: DatasetExport): string | undefined {
  const { home, names } = context;
  const isQualified = reference.parts[0] === home.dataset && reference.parts.length > 1;
  const parts = isQualified ? reference.parts.slice(1) : reference.parts;
  const name = parts.at(-1);
  const joined = followJoins(parts.slice(0, -1), context);
  if (joined === undefined) return undefined;
  const { end, entities } = joined;
  const field = end.fields?.find((candidate) => candidate.name === name);
  const dimension = field && names.dimensions.get(end.dataset)?.get(field);
  if (field !== undefined && dimension !== undefined) {
    const path = entities.length > 0 ? entities : [toDbtName(home.dataset)];
    return dimensionTemplate(field, [...path, dimension].join('__'));
  }
  if (end !== home) return undefined;
  const entity = names.entities.get(home.dataset)?.find((candidate) => candidate.field === name);
  return entity && `{{ Entity('${entity.name}') }}`;
}

/** The dataset that a path of roles ends at, and the entities that dbt joins by on the way. */
function followJoins(
  roles: readonly string[],
  { home, datasets, names }: DatasetExport,
): { readonly end: Dataset; readonly entities: readonly string[] } | undefined {
  const entities: string[] = [];
  let end = home;
  for (const step of roles) {
    const [relationship, ...others] = (end.relationships ?? []).filter(
      ({ to, role = to }) => role === step || to === step,
    );
    if (relationship === undefined || others.length > 0) return undefined;
    const entity = names.joins.get(relationship);
    const target = datasets.get(relationship.to);
    if (entity === undefined || target === undefined) return undefined;
    entities.push(entity);
    end = target;
  }
  return { end, entities };
}

/** Undefined for a datetime: in a filter, dbt truncates it to a grain. */
function dimensionTemplate({ type }: DatasetField, path: string): string | undefined {
  if (type?.startsWith('datetime')) return undefined;
  return type === 'date' ? `{{ TimeDimension('${path}', 'day') }}` : `{{ Dimension('${path}') }}`;
}
