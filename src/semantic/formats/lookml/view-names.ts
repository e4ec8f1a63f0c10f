import type { Dialect } from '../../../sql/dialect.ts';
import { toKtxName } from '../imported-model.ts';
import { type LookmlBlock, blocksWithKey, textProperty } from './parse.ts';
import type { LiquidParameter } from './liquid.ts';

/** What a name of a view stands for. */
export interface ViewMember {
  readonly kind: 'dimension' | 'dimension_group' | 'measure';
  /** As in LookML; `string` for a dimension without one. */
  readonly type: string;
  readonly block: LookmlBlock;
}

/** The names that the SQL of a view may use. */
export interface ViewNames {
  readonly view: string;
  readonly members: ReadonlyMap<string, ViewMember>;
  readonly parameters: readonly LiquidParameter[];
  readonly primaryKey: readonly string[];
  /** By their names in lower case: dimensions that are not the column with their name. */
  readonly notColumns: ReadonlyMap<string, string>;
}

export function readViewNames(view: LookmlBlock, dialect: Pick<Dialect, 'literal'>): ViewNames {
  const members = new Map<string, ViewMember>();
  for (const kind of ['measure', 'dimension_group', 'dimension'] as const)
    for (const block of blocksWithKey(view.value, kind)) {
      const usual = kind === 'dimension_group' ? 'time' : 'string';
      members.set(block.name, { kind, type: textProperty(block, 'type') ?? usual, block });
    }
  const parameters = blocksWithKey(view.value, 'parameter').map((block) => {
    const value = textProperty(block, 'default_value');
    const isText = !['unquoted', 'number'].includes(textProperty(block, 'type') ?? 'string');
    return {
      name: block.name,
      defaultSql: value === undefined || !isText ? value : dialect.literal(value),
    };
  });
  const primaryKey = blocksWithKey(view.value, 'dimension')
    .filter((block) => textProperty(block, 'primary_key') === 'yes')
    .map(({ name }) => name);
  const notColumns = new Map(
    [...members]
      .filter(([name, member]) => member.kind !== 'measure' && !isColumn(member, name))
      .map(([name]) => [toKtxName(name).toLowerCase(), name]),
  );
  return { view: view.name, members, parameters, primaryKey, notColumns };
}

const computedTypes = ['tier', 'bin', 'case', 'location', 'distance'];

/** True if the dimension is the column with that name and nothing else. */
export function isColumn({ type, block }: ViewMember, column: string): boolean {
  if (computedTypes.includes(type) || type.startsWith('duration')) return false;
  if (blocksWithKey(block.value, 'case').length > 0) return false;
  const sql = textProperty(block, 'sql') ?? `\${TABLE}.${block.name}`;
  const plain = sql.replaceAll(/[\s"`]/g, '').toLowerCase();
  return plain === `\${table}.${column.toLowerCase()}` || plain === column.toLowerCase();
}

export const timeframes: Readonly<Record<string, string>> = {
  raw: '',
  time: '',
  date: 'cast($ as date)',
  year: 'extract(year from $)',
  month_num: 'extract(month from $)',
  hour_of_day: 'extract(hour from $)',
  day_of_month: 'extract(day from $)',
};

/** The group and the timeframe that `created_date` stands for. */
export function splitTimeframe(
  name: string,
  members: ReadonlyMap<string, ViewMember>,
): { readonly group: string; readonly timeframe: string } | undefined {
  for (let cut = name.lastIndexOf('_'); cut > 0; cut = name.lastIndexOf('_', cut - 1)) {
    const group = name.slice(0, cut);
    if (members.get(group)?.kind === 'dimension_group')
      return { group, timeframe: name.slice(cut + 1) };
  }
  return undefined;
}
