import type { Json } from '../../lib/json.ts';

export interface Formula {
  /** The body of a metric claim. */
  readonly body: { readonly [key: string]: Json };
  /** The dataset that its columns name, where they name one. */
  readonly dataset: string | undefined;
}

const functions: Readonly<Record<string, string>> = {
  sum: 'sum',
  total: 'sum',
  count: 'count',
  avg: 'avg',
  average: 'avg',
  mean: 'avg',
  min: 'min',
  max: 'max',
  median: 'median',
};

/**
 * A formula as people write it in a table: `sum(orders.amount) where status = 'paid'`, `count(distinct customer_id)`, `count(*)`.
 * Undefined where it is anything else: that is for a model to read. Whether its columns exist, the check of the metric tells.
 */
export function readFormula(text: string, filter = ''): Formula | undefined {
  const plain = text.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim();
  const { name = '', rest = '' } = /^(?<name>[a-z]+) ?\((?<rest>.*)$/i.exec(plain)?.groups ?? {};
  const aggregate = Object.hasOwn(functions, name.toLowerCase())
    ? functions[name.toLowerCase()]
    : undefined;
  const end = closingParenthesis(rest);
  if (aggregate === undefined || end < 0) return undefined;
  const [inner, after] = [rest.slice(0, end).trim(), rest.slice(end + 1).trim()];
  const { inside, plainly } =
    /^(?:filter ?\( ?where\b(?<inside>.*)\)|(?:where|if|only)\b(?<plainly>.*))$/i.exec(after)
      ?.groups ?? {};
  const where = inside ?? plainly ?? '';
  if ((after !== '' && where.trim() === '') || inner === '') return undefined;
  const { distinct } = /^distinct (?<distinct>.+)$/i.exec(inner)?.groups ?? {};
  const of = distinct ?? (inner === '*' ? undefined : inner);
  if (of === undefined && aggregate !== 'count') return undefined;
  if (distinct !== undefined && aggregate !== 'count') return undefined;
  const conditions = [where, filter.replaceAll('`', '')]
    .map((one) => one.trim())
    .filter((one) => one !== '');
  const sql = {
    of,
    where:
      conditions.length > 1 ? conditions.map((one) => `(${one})`).join(' and ') : conditions[0],
  };
  const owners = new Set(Object.values(sql).flatMap(ownersIn));
  if (owners.size > 1) return undefined;
  const [dataset] = owners;
  const bare = Object.entries(sql).flatMap(([key, part]) =>
    part === undefined ? [] : [[key, withoutOwner(part)]],
  );
  return {
    body: {
      agg: distinct === undefined ? aggregate : 'count_distinct',
      ...Object.fromEntries(bare),
    },
    dataset,
  };
}

function closingParenthesis(text: string): number {
  let depth = 1;
  for (const [index, character] of text.split('').entries()) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth === 0) return index;
  }
  return -1;
}

const qualified = /('(?:[^']|'')*')|\b([a-z_][\w]*(?:\.[a-z_]\w*)?)\.([a-z_]\w*)\b(?!\s*\()/gi;

function ownersIn(text: string | undefined): string[] {
  return [...(text ?? '').matchAll(qualified)].flatMap(([, , owner]) =>
    owner === undefined ? [] : [owner.toLowerCase()],
  );
}

function withoutOwner(text: string): string {
  return text.replaceAll(
    qualified,
    (whole, ...[quoted, , column]: readonly (string | undefined)[]) =>
      quoted === undefined ? (column ?? whole) : whole,
  );
}
