import type { CatalogTable } from '../../context/catalog/catalog.ts';
import type { ClaimBodies } from '../../context/claims/claim.ts';
import { type MeasureKind, measureKind } from './measure-kind.ts';
import {
  hasMixedParent,
  isMixed,
  type MeasuredTable,
  singularWords,
  tellsEvents,
} from './table-shape.ts';

/** A metric that names and types suggest; a person accepts it. */
export interface ProposedMeasure {
  readonly name: string;
  readonly body: ClaimBodies['metric'];
  /** The columns that suggest it. */
  readonly columns: readonly string[];
}

interface MeasureColumn {
  readonly column: string;
  readonly field: string;
  readonly kind: MeasureKind;
  readonly words: readonly string[];
}

const currencyColumn =
  /^(.*_)?(currency|curr|ccy|waehrung|devise|moneda)(_?(code|cd|id|iso|key))?$/i;
const unitColumn = /^(unit|uom|unit_?of_?measure|measure_?unit|einheit|unite)(_?(code|cd|id))?$/i;

/**
 * Proposes sums over the columns whose names say that they can be added up, the product of price
 * and quantity where the table has no amount, and ratios of the pairs that everybody divides. In
 * doubt it proposes nothing.
 */
export function proposeMeasures(
  measured: MeasuredTable,
  fieldName: (column: string) => string,
): readonly ProposedMeasure[] {
  if (!tellsEvents(measured)) return [];
  const measures = findMeasures(measured, fieldName);
  const taken = new Set(measured.table.columns.map(({ name }) => fieldName(name).toLowerCase()));
  const sums = measures
    .filter(({ kind }) => kind !== 'price')
    .map((measure) => sumOf(measure, taken));
  const nameOf = new Map(sums.map(({ name, columns: [column = ''] }) => [column, name]));
  return [...sums, ...productOf(measures, taken), ...ratiosOf(measures, { nameOf, taken })];
}

function findMeasures(
  measured: MeasuredTable,
  fieldName: (column: string) => string,
): readonly MeasureColumn[] {
  const { table, profile, keyed } = measured;
  const hasOwnCurrency = table.columns.some(({ name }) => currencyColumn.test(name));
  const isMoneyMixed = hasOwnCurrency
    ? isMixed(measured, currencyColumn)
    : hasMixedParent(measured, currencyColumn);
  const isQuantityMixed = isMixed(measured, unitColumn);
  return table.columns.flatMap((column): MeasureColumn[] => {
    const { name } = column;
    const kind = measureKind(name);
    if (kind === undefined || keyed.has(name) || !canBeAdded(column, profile)) return [];
    const isMoney = kind === 'amount' || kind === 'cost' || kind === 'price';
    if (isMoney ? isMoneyMixed : kind === 'quantity' && isQuantityMixed) return [];
    return [{ column: name, field: fieldName(name), kind, words: singularWords(name) }];
  });
}

/** False for flags, shares from 0 to 1, and personal data. */
function canBeAdded(
  { name, type, nativeType, values }: CatalogTable['columns'][number],
  profile: MeasuredTable['profile'],
): boolean {
  const isNumber = type === 'integer' || type === 'decimal';
  const isFlag = /bool|^(bit|tinyint\(1\))$/i.test(nativeType) || values !== undefined;
  const { max, personal } = profile?.columns.find((column) => column.name === name) ?? {};
  const isShare = type === 'decimal' && max !== undefined && max <= 1;
  return isNumber && !isFlag && !isShare && personal === undefined;
}

function sumOf(
  { column, field, words }: MeasureColumn,
  taken: ReadonlySet<string>,
): ProposedMeasure {
  const prefix = words.some((word) => word === 'total' || word === 'sum') ? 'sum' : 'total';
  const name = freeName([`${prefix}_${field}`, `${prefix}_of_${field}`], taken);
  return { name, body: { agg: 'sum', of: field }, columns: [column] };
}

/** Price times quantity, where they are one each and nothing else says what a row is worth. */
function productOf(
  measures: readonly MeasureColumn[],
  taken: ReadonlySet<string>,
): ProposedMeasure[] {
  const ofKind = (wanted: MeasureKind) => measures.filter(({ kind }) => kind === wanted);
  const [[price, ...prices], [quantity, ...quantities]] = [ofKind('price'), ofKind('quantity')];
  const isClear = prices.length + quantities.length + ofKind('amount').length === 0;
  if (price === undefined || quantity === undefined || !isClear) return [];
  return [
    {
      name: freeName(['gross_amount', 'price_times_quantity'], taken),
      body: { agg: 'sum', of: `${price.field} * ${quantity.field}` },
      columns: [price.column, quantity.column],
    },
  ];
}

/** What is divided by what; of several denominators, the first that a table has. */
const ratioPairs: readonly (readonly [name: string, of: RegExp, by: readonly RegExp[]])[] = [
  ['click_through_rate', /^clicks?$/, [/^impressions?$/]],
  ['conversion_rate', /^conversions?$/, [/^clicks?$/, /^sessions?$/, /^visits?$/]],
  ['profit_margin', /^(gross_)?profit$/, [/^(net_|total_)?revenue$/, /^(net_|total_)?sales$/]],
  [
    'refund_rate',
    /^refund(ed|s)?(_amount)?$/,
    [/^(net_|total_)?revenue$/, /^(total_)?amount$/, /^(net_|total_)?sales$/],
  ],
  [
    'discount_rate',
    /^discount_amount$/,
    [/^(gross|total|list)_amount$/, /^gross_(sales|revenue)$/],
  ],
];

function ratiosOf(
  measures: readonly MeasureColumn[],
  {
    nameOf,
    taken,
  }: { readonly nameOf: ReadonlyMap<string, string>; readonly taken: ReadonlySet<string> },
): ProposedMeasure[] {
  const find = (pattern: RegExp): MeasureColumn | undefined => {
    const [match, ...others] = measures.filter(({ field }) => pattern.test(field));
    return others.length === 0 ? match : undefined;
  };
  return ratioPairs.flatMap(([name, of, by]): ProposedMeasure[] => {
    const top = find(of);
    const bottom = by.map(find).find((measure) => measure !== undefined);
    const numerator = nameOf.get(top?.column ?? '');
    const denominator = nameOf.get(bottom?.column ?? '');
    if (!top || !bottom || numerator === undefined || denominator === undefined) return [];
    if (taken.has(name)) return [];
    return [
      { name, body: { ratio: { numerator, denominator } }, columns: [top.column, bottom.column] },
    ];
  });
}

function freeName(names: readonly [string, string], taken: ReadonlySet<string>): string {
  return names.find((name) => !taken.has(name)) ?? names[1];
}
