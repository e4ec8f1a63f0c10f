import { toKtxName } from '../imported-model.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';
import { isColumn, splitTimeframe, type ViewNames } from './view-names.ts';

/** A pair of joined columns: one of the joined view, one of the view that it is joined to. */
export interface ColumnPair {
  readonly column: string;
  /** The name of the other view in the explore. */
  readonly other: string;
  readonly otherColumn: string;
}

interface SqlOnContext {
  /** The name of the join. */
  readonly join: string;
  /** The view that each name in the explore stands for. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly views: ReadonlyMap<string, ViewNames>;
}

const reference = String.raw`(?:\$\{\s*(\w+)\.(\w+)\s*\}|(\w+)\.(\w+))`;
const columnEquality = new RegExp(`^${reference}\\s*=\\s*${reference}$`);

/** `sql_on: ${orders.buyer_id} = ${buyer.id} AND …` */
export function readSqlOn(
  written: string,
  context: SqlOnContext,
): { readonly pairs: readonly ColumnPair[]; readonly rest: readonly string[] } {
  if (/\{[%{]|@\{/.test(written)) throw new UnreadableLookml('its sql_on is written in Liquid');
  const pairs: ColumnPair[] = [];
  const rest: string[] = [];
  const sqlOn = written.replaceAll(/--[^\n]*/g, ' ');
  for (const condition of splitConditions(sqlOn)) {
    const pair = readEquality(condition, context);
    if (pair === undefined) rest.push(condition);
    else pairs.push(pair);
  }
  if (pairs.length === 0 && rest.length > 0)
    throw new UnreadableLookml(`ktx cannot read its sql_on: ${rest.join(' and ')}`);
  return { pairs, rest };
}

const token = /'(?:[^']|'')*'|"[^"]*"|\$\{[^}]*\}|[A-Za-z_]\w*|[()]|[^]/g;

/** The conditions between the ANDs, without parentheses around a whole condition. */
function splitConditions(sqlOn: string): readonly string[] {
  const whole = withoutParentheses(sqlOn);
  return splitAtAnds(whole)
    .map(withoutParentheses)
    .filter((condition) => condition !== '' && !/^1\s*=\s*1$/.test(condition));
}

function splitAtAnds(sql: string): readonly string[] {
  const conditions = [''];
  let depth = 0;
  let isInBetween = false;
  for (const [part] of sql.matchAll(token)) {
    const word = part.toLowerCase();
    if (word === '(' || word === 'case') depth += 1;
    if (word === ')' || word === 'end') depth -= 1;
    const isOutside = depth === 0;
    // An OR makes the ANDs beside it mean something else.
    if (isOutside && word === 'or') return [sql];
    const isEnd = isOutside && word === 'and' && !isInBetween;
    if (isOutside && (word === 'between' || word === 'and')) isInBetween = word === 'between';
    if (isEnd) conditions.push('');
    else conditions[conditions.length - 1] += part;
  }
  return conditions;
}

/** People write one or two. */
const mostParentheses = 50;

/** Without the pairs of parentheses that enclose the whole condition. */
function withoutParentheses(condition: string): string {
  let text = condition.trim();
  for (let removed = 0; removed < mostParentheses && isEnclosed(text); removed += 1)
    text = text.slice(1, -1).trim();
  return text;
}

function isEnclosed(text: string): boolean {
  if (!text.startsWith('(') || !text.endsWith(')')) return false;
  let depth = 0;
  for (let index = 0; index < text.length - 1; index += 1) {
    if (text[index] === '(') depth += 1;
    if (text[index] === ')') depth -= 1;
    if (depth === 0) return false;
  }
  return true;
}

function readEquality(condition: string, context: SqlOnContext): ColumnPair | undefined {
  const match = columnEquality.exec(condition);
  if (match === null) return undefined;
  const sideAt = (index: number) => {
    const [alias, name, plainAlias, plainName] = match.slice(index, index + 4);
    return {
      alias: alias ?? plainAlias ?? '',
      name: name ?? plainName ?? '',
      isPlainSql: plainAlias !== undefined,
    };
  };
  const [left, right] = [sideAt(1), sideAt(5)];
  if ((left.alias === context.join) === (right.alias === context.join))
    throw new UnreadableLookml(
      `its sql_on does not join ${context.join} to another view: ${condition}`,
    );
  const columns = [left, right].map((side) => fieldOf(side, context));
  const [own, other] = left.alias === context.join ? [0, 1] : [1, 0];
  return {
    column: columns[own] ?? '',
    other: [left, right][other]?.alias ?? '',
    otherColumn: columns[other] ?? '',
  };
}

interface ExploreColumn {
  readonly alias: string;
  readonly name: string;
  /** Written without `${…}`, so that it names a column. */
  readonly isPlainSql: boolean;
}

/** The field that stands in a join: a dimension, or the raw value of a time. */
function fieldOf(
  { alias, name, isPlainSql }: ExploreColumn,
  { aliases, views }: SqlOnContext,
): string {
  const view = aliases.get(alias) ?? alias;
  const names = views.get(view);
  if (names === undefined) throw new UnreadableLookml(`there is no view ${view} in these files`);
  if (isPlainSql) return columnField({ alias, name }, names);
  if (names.members.get(name)?.kind === 'dimension') return toKtxName(name);
  const time = splitTimeframe(name, names.members);
  if (time?.timeframe === 'raw') return toKtxName(time.group);
  throw new UnreadableLookml(
    time === undefined
      ? `the view ${view} has no dimension ${name}`
      : `ktx joins no periods: ${alias}.${name}`,
  );
}

/** The dimension that is this very column: `orders.buyer_id` without `${…}` names a column. */
function columnField(
  { alias, name }: Pick<ExploreColumn, 'alias' | 'name'>,
  { members }: ViewNames,
): string {
  const found = [...members].find(
    ([, member]) => member.kind === 'dimension' && isColumn(member, name),
  );
  if (found === undefined)
    throw new UnreadableLookml(`no dimension is the column ${alias}.${name} of its sql_on`);
  return toKtxName(found[0]);
}
