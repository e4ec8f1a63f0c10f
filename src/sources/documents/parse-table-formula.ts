import type { Json } from '../../lib/json.ts';

export interface ParsedFormula {
  /** The body of a metric claim. */
  readonly body: { readonly [key: string]: Json };
  /** The dataset that its columns name; undefined where they name none. */
  readonly dataset: string | undefined;
}

/**
 * Reads a formula as people write it in a table: `sum(orders.amount) where status = 'paid'`,
 * `count(distinct customer_id)`, `count(*)`. Undefined for anything else, which a model has to
 * read. Whether the columns exist is checked later, with the metric.
 */
export function parseTableFormula(text: string, filter = ''): ParsedFormula | undefined {
  const call = parseFormulaCall(text.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim());
  const condition = call && parseCondition(call.rest);
  const argument = call && parseArgument(call);
  if (condition === undefined || argument === undefined) return undefined;
  const conditions = [condition, filter.replaceAll('`', '').trim()].filter((part) => part !== '');
  const where =
    conditions.length > 1 ? conditions.map((part) => `(${part})`).join(' and ') : conditions[0];
  const datasets = new Set([argument.of, where].flatMap(qualifyingDatasets));
  if (datasets.size > 1) return undefined;
  const body = {
    agg: argument.agg,
    ...(argument.of !== undefined && { of: withoutQualifiers(argument.of) }),
    ...(where !== undefined && { where: withoutQualifiers(where) }),
  };
  return { body, dataset: [...datasets][0] };
}

/** Aggregates by the words that people use for them. */
const aggregates: Readonly<Record<string, string>> = {
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

interface FormulaCall {
  readonly aggregate: string;
  readonly argument: string;
  /** What follows the closing parenthesis. */
  readonly rest: string;
}

function parseFormulaCall(formula: string): FormulaCall | undefined {
  const { name = '', tail = '' } = /^(?<name>[a-z]+) ?\((?<tail>.*)$/i.exec(formula)?.groups ?? {};
  const word = name.toLowerCase();
  const aggregate = Object.hasOwn(aggregates, word) ? aggregates[word] : undefined;
  const end = closingParenthesis(tail);
  if (aggregate === undefined || end < 0) return undefined;
  const [argument, rest] = [tail.slice(0, end).trim(), tail.slice(end + 1).trim()];
  return argument === '' ? undefined : { aggregate, argument, rest };
}

/** Of the parenthesis that is open where the text begins; -1 without one. */
function closingParenthesis(text: string): number {
  let depth = 1;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '(') depth += 1;
    if (text[index] === ')') depth -= 1;
    if (depth === 0) return index;
  }
  return -1;
}

/** The condition after a call, empty without one; undefined where something else follows. */
function parseCondition(rest: string): string | undefined {
  if (rest === '') return '';
  const { inside, plain } =
    /^(?:filter ?\( ?where\b(?<inside>.*)\)|(?:where|if|only)\b(?<plain>.*))$/i.exec(rest)
      ?.groups ?? {};
  const condition = (inside ?? plain ?? '').trim();
  return condition === '' ? undefined : condition;
}

/** The argument as a metric has it. Only a count can be of every row, or of distinct values. */
function parseArgument({
  aggregate,
  argument,
}: FormulaCall): { readonly agg: string; readonly of: string | undefined } | undefined {
  const { distinct } = /^distinct (?<distinct>.+)$/i.exec(argument)?.groups ?? {};
  if ((argument === '*' || distinct !== undefined) && aggregate !== 'count') return undefined;
  if (distinct !== undefined) return { agg: 'count_distinct', of: distinct };
  return { agg: aggregate, of: argument === '*' ? undefined : argument };
}

/** A text in quotes, or `dataset.column`; not the name of a function. */
const qualifiedColumn =
  /('(?:[^']|'')*')|\b([a-z_][\w]*(?:\.[a-z_]\w*)?)\.([a-z_]\w*)\b(?!\s*\()/gi;

function qualifyingDatasets(sql: string | undefined): string[] {
  return [...(sql ?? '').matchAll(qualifiedColumn)].flatMap(([, , dataset]) =>
    dataset === undefined ? [] : [dataset.toLowerCase()],
  );
}

function withoutQualifiers(sql: string): string {
  return sql.replaceAll(
    qualifiedColumn,
    (whole, ...[quoted, , column]: readonly (string | undefined)[]) =>
      quoted === undefined ? (column ?? whole) : whole,
  );
}
