import { stepOf } from '../../sql/names/table-layer.ts';
import type { CatalogTable } from '../../context/catalog/catalog.ts';
import { splitNameWords, singular } from '../names/split-words.ts';
import type { ColumnProfile, TableProfile } from '../profile/table-profile.ts';

/** A table with what a scan found out about its columns. */
export interface MeasuredTable {
  readonly table: CatalogTable;
  readonly profile: TableProfile | undefined;
  /** Columns of accepted keys, and columns that refer to other tables or may do so. */
  readonly keyed: ReadonlySet<string>;
  readonly hasParent: boolean;
  /** The tables to which accepted links lead, such as the order of a line. */
  readonly parents: readonly Pick<MeasuredTable, 'table' | 'profile'>[];
}

export function singularWords(name: string): readonly string[] {
  return splitNameWords(name).map(singular);
}

export function isTime({ type }: CatalogTable['columns'][number]): boolean {
  return type === 'date' || type === 'datetime' || type === 'datetime_tz';
}

const stateTableWords =
  /^(snapshot|history|hist|balance|budget|forecast|plan|target|quota|price|rate|tariff|stock|inventory|setting|config|limit|exchange)$/;
const rangeStart =
  /^(valid_?from|effective_?from|effective_?date|start_?date|starts_?at|dbt_valid_from)$/i;
const snapshotTime = /^(snapshot|as_?of|balance|reporting)(_?(date|day|at|time|month))?$/i;

/**
 * True if each row tells what happened, so that rows can be added up: not what a thing is like,
 * what holds from one time to another, or the state at a time.
 */
export function tellsEvents({ table, profile, hasParent }: MeasuredTable): boolean {
  const names = table.columns.map(({ name }) => name);
  const isState =
    singularWords(table.table).some((word) => stateTableWords.test(word)) ||
    names.some((name) => rangeStart.test(name) || snapshotTime.test(name));
  const isEmpty = profile !== undefined && profile.rows === 0;
  const isStep = stepOf(table.table) !== '';
  if (isState || isEmpty || isStep || names.some((name) => isLabel(name, table))) return false;
  return hasParent || table.columns.some(isTime);
}

const labelWord =
  /^(name|nm|title|label|bezeichnung|nom|nombre|naam|surname|lastname|firstname|email)$/;

/** True for the name of what a row is: `name`, `title`, `product_name` in products. */
function isLabel(name: string, { table }: CatalogTable): boolean {
  const words = singularWords(name);
  const last = words.at(-1) ?? '';
  const own = new Set(singularWords(table));
  const qualifiers = words.slice(0, -1);
  return (
    labelWord.test(last) &&
    qualifiers.every((word) => own.has(word) || ['first', 'last', 'full'].includes(word))
  );
}

/** True if what happened to the parents of rows was in several currencies, or units. */
export function hasMixedParent({ parents }: MeasuredTable, isDivider: RegExp): boolean {
  const none = { keyed: new Set<string>(), hasParent: false, parents: [] };
  return parents.some((parent) => {
    const measured = { ...parent, ...none };
    return tellsEvents(measured) && isMixed(measured, isDivider);
  });
}

/** True if the column tells rows apart that must not be added up: several currencies, or units. */
export function isMixed(
  { table, profile }: Pick<MeasuredTable, 'table' | 'profile'>,
  isDivider: RegExp,
): boolean {
  const dividers = table.columns.filter(({ name }) => isDivider.test(name));
  const distinctOf = (name: string): number | undefined =>
    profile?.columns.find((column: ColumnProfile) => column.name === name)?.distinct;
  return dividers.some(({ name }) => distinctOf(name) !== 1);
}
