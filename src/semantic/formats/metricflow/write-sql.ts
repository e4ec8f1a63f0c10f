import type { Dialect } from '../../../sql/dialect.ts';
import { UserError } from '../../../lib/error.ts';
import { type Fragment, parseFragment, type ColumnReference } from '../../../sql/fragment.ts';
import type { Dataset, ExpressionText } from '../../model/dataset.ts';
import type { DatasetField } from '../imported-model.ts';
import { usedText } from '../ossie/dataset-conversion.ts';
import { fragmentIn, rewritten } from '../sql-fragment.ts';
import { type FlowNames, flowName } from './dbt-names.ts';

/** The datasets that are written together. */
export interface Flow {
  readonly dialect: Dialect;
  readonly datasets: ReadonlyMap<string, Dataset>;
  readonly names: FlowNames;
}

export function fragmentOf(
  text: ExpressionText,
  { dialect }: Pick<Flow, 'dialect'>,
): Fragment | undefined {
  const own = usedText(text, dialect);
  return own === undefined ? undefined : fragmentIn(own, dialect);
}

/** Why dbt cannot have a text at all, whatever its names are. */
export function faultOf(
  text: ExpressionText | undefined,
  { dialect }: Pick<Flow, 'dialect'>,
): string | undefined {
  const own = text === undefined ? undefined : usedText(text, dialect);
  if (own === undefined)
    return text === undefined ? undefined : `there is no expression for ${dialect.name}`;
  try {
    const { references } = parseFragment(own, { dialect, origin: 'model' });
    return references.some(({ parts: [first, ...rest] }) => first === 'param' && rest.length === 1)
      ? 'dbt has no parameters'
      : undefined;
  } catch (error) {
    if (error instanceof UserError)
      return `ktx cannot read ${JSON.stringify(own)}: ${error.message}`;
    throw error;
  }
}

/** Row-level SQL over columns alone, with the fields of the dataset written out; undefined where it reaches out of the dataset. */
export function columnSql(
  text: ExpressionText,
  at: Flow & { readonly home: Dataset },
  stack: readonly string[] = [],
): string | undefined {
  const fragment = fragmentOf(text, at);
  if (fragment === undefined || fragment.aggregates.length > 0) return undefined;
  return replaced(fragment, (reference) => {
    const field = ownField(reference, at.home);
    if (field === undefined) return reference.parts.length === 1 ? reference.written : undefined;
    if (field.expr === undefined || stack.includes(field.name)) return reference.written;
    const inner = columnSql(field.expr, at, [...stack, field.name]);
    return inner === undefined || /^\w+$/.test(inner) ? inner : `(${inner})`;
  });
}

/** A row filter in dbt's words, each name a dimension or an entity; undefined where one is neither. */
export function filterTemplate(
  text: ExpressionText,
  at: Flow & { readonly home: Dataset },
): string | undefined {
  const fragment = fragmentOf(text, at);
  return fragment && replaced(fragment, (reference) => template(reference, at));
}

/** With SQL for each name, and divisions that never truncate; undefined where there is none for one. */
export function replaced(
  fragment: Fragment,
  sqlOf: (reference: ColumnReference) => string | undefined,
): string | undefined {
  const names = fragment.references.flatMap((it) => {
    const sql = sqlOf(it);
    return sql === undefined ? [] : [[it, sql] as const];
  });
  if (names.length < fragment.references.length) return undefined;
  const divisions = fragment.divisions.map((it) => [it, '* 1.0 /'] as const);
  return rewritten(fragment.text, [...names, ...divisions]);
}

function ownField(
  { parts }: ColumnReference,
  { dataset, fields = [] }: Dataset,
): DatasetField | undefined {
  if (parts.length > 2 || (parts.length === 2 && parts[0] !== dataset)) return undefined;
  return fields.find(({ name }) => name === parts.at(-1));
}

function template(
  reference: ColumnReference,
  { home, datasets, names }: Flow & { readonly home: Dataset },
): string | undefined {
  const parts =
    reference.parts[0] === home.dataset && reference.parts.length > 1
      ? reference.parts.slice(1)
      : reference.parts;
  const path: string[] = [];
  let at = home;
  for (const step of parts.slice(0, -1)) {
    const [next, ...twins] = (at.relationships ?? []).filter(
      ({ to, role = to }) => role === step || to === step,
    );
    const join = next && names.joins.get(next);
    const target = next && datasets.get(next.to);
    if (twins.length > 0 || join === undefined || target === undefined) return undefined;
    path.push(join);
    at = target;
  }
  const field = at.fields?.find(({ name }) => name === parts.at(-1));
  const dimension = field && names.dimensions.get(at.dataset)?.get(field);
  if (field !== undefined && dimension !== undefined) {
    // Instants are cut to a grain in a filter of dbt.
    if (field.type?.startsWith('datetime')) return undefined;
    const full = [...(path.length > 0 ? path : [flowName(home.dataset)]), dimension].join('__');
    return field.type === 'date'
      ? `{{ TimeDimension('${full}', 'day') }}`
      : `{{ Dimension('${full}') }}`;
  }
  const entity =
    at === home
      ? names.entities.get(home.dataset)?.find((one) => one.field === parts.at(-1))
      : undefined;
  return entity && `{{ Entity('${entity.name}') }}`;
}
