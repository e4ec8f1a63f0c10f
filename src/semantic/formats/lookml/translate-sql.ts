import type { Dialect } from '../../../sql/dialect.ts';
import { toKtxName } from '../imported-model.ts';
import { tryParseFragment } from '../sql-fragment.ts';
import { resolveLiquid, type LiquidParameter } from './liquid.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';
import { splitTimeframe, timeframes, type ViewNames } from './view-names.ts';

/** What the SQL of one view may refer to. */
export interface ViewSql {
  readonly names: ViewNames;
  readonly parameters: ReadonlyMap<string, LiquidParameter>;
  readonly dialect: Dialect;
  readonly addNote: (note: string) => void;
  /** The dimension or measure that the SQL belongs to. */
  readonly own: string;
}

/** Row-level SQL of a view: `${TABLE}.status`, `${status}`. */
export function translateFieldSql(sql: string, context: ViewSql): string {
  const text = resolveReferences(sql, context, 'row');
  if (tryParseFragment(text, context.dialect)?.aggregates.length !== 0)
    throw new UnreadableLookml(`ktx cannot use the SQL ${shortSql(sql)}`);
  return text;
}

/** Arithmetic over measures and aggregates: `${revenue} / nullif(${orders}, 0)`. */
export function translateMeasureSql(sql: string, context: ViewSql): string {
  const text = resolveReferences(sql, context, 'measure');
  if (tryParseFragment(text, context.dialect) === undefined)
    throw new UnreadableLookml(`ktx cannot use the SQL ${shortSql(sql)}`);
  return text;
}

export function shortSql(sql: string): string {
  const line = sql.replaceAll(/\s+/g, ' ').trim();
  return line.length > 120 ? `${line.slice(0, 120)}…` : line;
}

type SqlLevel = 'row' | 'measure';

/** Replaces Liquid and `${…}` references. */
function resolveReferences(sql: string, context: ViewSql, level: SqlLevel): string {
  const { view } = context.names;
  const plain = withoutComments(resolveLiquid(sql, context));
  const constant = /@\{\w*\}/.exec(plain)?.[0];
  if (constant !== undefined)
    throw new UnreadableLookml(`the constant ${constant} has no value: the manifest is not here`);
  const overColumns = plain.replaceAll(/\$\{TABLE\}\s*\.\s*/g, '');
  refuseShadowedColumns(overColumns, context);
  const text = overColumns.replaceAll(/\$\{\s*([\w.]+)\s*\}/g, (_, written: string) => {
    const parts = written.split('.');
    const name = parts.at(-1) ?? '';
    if (written === 'TABLE') throw new UnreadableLookml('it uses ${TABLE} without a column');
    if (parts.length > 1 && parts[0] !== view)
      throw new UnreadableLookml(`it uses ${written} of another view`);
    return memberReference(name, context.names, level);
  });
  if (text.includes('${')) throw new UnreadableLookml(`ktx cannot read ${shortSql(sql)}`);
  return text.replaceAll('`', '"').trim();
}

/** A dimension with the name of a column hides it: in ktx, the name would mean the dimension. */
function refuseShadowedColumns(sql: string, { names, own, dialect }: ViewSql): void {
  const bare = tryParseFragment(sql.replaceAll(/\$\{[^{}]*\}/g, '0').replaceAll('`', '"'), dialect);
  const columns = bare?.references.filter(({ parts }) => parts.length === 1) ?? [];
  const hiding = columns
    .map(({ parts }) => names.notColumns.get(parts[0]?.toLowerCase() ?? ''))
    .find((member) => member !== undefined && member !== own);
  if (hiding !== undefined)
    throw new UnreadableLookml(
      `it uses the column ${hiding}, and the dimension of that name has another meaning`,
    );
}

/** Looker passes comments on; within a longer expression they would hide the rest of the line. */
function withoutComments(sql: string): string {
  if (!/--|\/\*/.test(sql) || /['"]/.test(sql)) return sql;
  return sql.replaceAll(/--[^\n]*/g, ' ').replaceAll(/\/\*[^*]*\*\//g, ' ');
}

function memberReference(name: string, { view, members }: ViewNames, level: SqlLevel): string {
  const member = members.get(name);
  if (member?.kind === 'dimension_group')
    throw new UnreadableLookml(`it uses the group ${name} without a timeframe`);
  if (member !== undefined) {
    if (member.kind === 'measure' && level === 'row')
      throw new UnreadableLookml(`it uses the measure ${name} in a row`);
    return toKtxName(name);
  }
  const time = splitTimeframe(name, members);
  if (time === undefined)
    throw new UnreadableLookml(`it uses ${name}, which the view ${view} does not have`);
  if (members.get(time.group)?.type === 'duration') return toKtxName(name);
  const template = timeframes[time.timeframe];
  if (template === undefined)
    throw new UnreadableLookml(
      `it uses ${time.group} as ${time.timeframe}, which ktx has only as a period`,
    );
  const field = toKtxName(time.group);
  return template === '' ? field : template.replace('$', () => field);
}
