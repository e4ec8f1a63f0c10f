import type { Dataset } from '../../model/dataset.ts';
import { toDatasetName, toKtxName, type DatasetRelationship } from '../imported-model.ts';
import { isBlock, type LookmlEntry } from './parse.ts';
import { same, without } from '../patch.ts';

interface Joining {
  readonly views: ReadonlyMap<string, Dataset>;
  readonly note: (at: string, message: string) => void;
}

/** What restricts every question in Looker, and would not here. */
const restricting = [
  'sql_always_where',
  'sql_always_having',
  'always_filter',
  'conditionally_filter',
  'access_filter',
  'sql_where',
];

/** Relationships by the view that they start from; the same one of several explores is one. */
export function readJoins(
  explores: readonly LookmlEntry[],
  joining: Joining,
): ReadonlyMap<string, readonly DatasetRelationship[]> {
  const found = new Map<string, DatasetRelationship[]>();
  for (const explore of explores) {
    if (!isBlock(explore)) continue;
    const at = `explore ${explore.name}`;
    const keys = new Set(explore.value.map(({ key }) => key));
    for (const key of restricting.filter((one) => keys.has(one)))
      joining.note(at, `not read: ${key}, so numbers here count more rows than there`);
    const others = [...keys].filter(
      (key) => !['join', 'from', 'view_name', 'label', 'description', ...restricting].includes(key),
    );
    if (others.length > 0) joining.note(at, `not read: ${others.join(', ')}`);
    // Names in the explore, and the views that they stand for.
    const aliases = new Map([
      [explore.name, textOf(explore, 'from') ?? textOf(explore, 'view_name') ?? explore.name],
    ]);
    for (const join of explore.value.filter(({ key }) => key === 'join')) {
      aliases.set(join.name, textOf(join, 'from') ?? join.name);
      const read = readJoin(join, aliases, joining);
      if (typeof read === 'string') {
        joining.note(`${at}.${join.name}`, `left out: ${read}`);
        continue;
      }
      const own = found.get(read.from) ?? [];
      if (!own.some((one) => same(one, read.relationship)))
        found.set(read.from, [...own, read.relationship]);
    }
  }
  return found;
}

function textOf(entry: LookmlEntry, key: string): string | undefined {
  const value = isBlock(entry) ? entry.value.findLast((one) => one.key === key)?.value : undefined;
  return typeof value === 'string' ? value : undefined;
}

type Read = { readonly from: string; readonly relationship: DatasetRelationship };

/** Or why not. */
function readJoin(
  join: LookmlEntry,
  aliases: ReadonlyMap<string, string>,
  { views, note }: Joining,
): Read | string {
  const type = textOf(join, 'type') ?? 'left_outer';
  const cardinality = textOf(join, 'relationship') ?? 'many_to_one';
  const joined = aliases.get(join.name) ?? join.name;
  if (cardinality === 'many_to_many') return 'a many_to_many needs a bridge: declare it with via';
  if (type === 'cross') return 'a cross join has no keys';
  if (type !== 'left_outer')
    note(
      `join ${join.name}`,
      `a ${type} join is read as left_outer: rows without a partner are kept`,
    );
  const pairs = pairsOf(join, aliases, views);
  if (typeof pairs === 'string') return pairs;
  const [first] = pairs;
  if (first === undefined) return 'it has neither sql_on nor foreign_key';
  const other = aliases.get(first.other) ?? first.other;
  if (!views.has(joined) || !views.has(other))
    return `there is no view ${views.has(joined) ? other : joined} in these files`;
  if (pairs.some((pair) => pair.other !== first.other))
    return 'its sql_on joins more than two views';
  const isReversed = cardinality === 'one_to_many';
  const on = Object.fromEntries(
    pairs.map((pair) =>
      isReversed ? [pair.column, pair.otherColumn] : [pair.otherColumn, pair.column],
    ),
  );
  const [from, to, alias] = isReversed ? [joined, other, first.other] : [other, joined, join.name];
  const role = alias === to ? undefined : toKtxName(alias);
  const rest = without({
    role,
    cardinality: cardinality === 'one_to_one' ? cardinality : undefined,
  });
  return { from, relationship: { to: toDatasetName(to), on, ...rest } };
}

interface Pair {
  readonly column: string;
  readonly other: string;
  readonly otherColumn: string;
}

function pairsOf(
  join: LookmlEntry,
  aliases: ReadonlyMap<string, string>,
  views: Joining['views'],
): readonly Pair[] | string {
  const [condition, key] = [textOf(join, 'sql_on'), textOf(join, 'foreign_key')];
  if (key !== undefined) {
    const [other = '', column = ''] = key.includes('.')
      ? key.split('.')
      : [[...aliases.keys()][0] ?? '', key];
    const [target] = views.get(aliases.get(join.name) ?? join.name)?.primary_key ?? [];
    return target === undefined
      ? `${join.name} has no primary_key`
      : [{ column: target, other, otherColumn: toKtxName(column) }];
  }
  const pairs: Pair[] = [];
  for (const part of (condition ?? '').split(/\band\b/i).filter((text) => text.trim() !== '')) {
    const names =
      /^\s*\(?\s*\$\{\s*(\w+)\.(\w+)\s*\}\s*=\s*\$\{\s*(\w+)\.(\w+)\s*\}\s*\)?\s*$/.exec(part);
    if (names === null) return `ktx cannot read its sql_on: ${part.trim()}`;
    const [, left = '', leftColumn = '', right = '', rightColumn = ''] = names;
    if ((left === join.name) === (right === join.name))
      return `its sql_on does not join ${join.name} to another view: ${part.trim()}`;
    const [column, other, otherColumn] =
      left === join.name ? [leftColumn, right, rightColumn] : [rightColumn, left, leftColumn];
    pairs.push({ column: toKtxName(column), other, otherColumn: toKtxName(otherColumn) });
  }
  return pairs;
}
