import type { Json } from '../../lib/json.ts';

export interface ParsedFormula {
  /** The body of a metric claim. */
  readonly body: { readonly [key: string]: Json };
  /** The dataset that its columns name; undefined where they name none. */
  readonly dataset: string | undefined;
  /** True for arithmetic over several aggregates, such as `sum(amount) - sum(refund)`. */
  readonly isArithmetic: boolean;
}

/** Why a formula is not read; `formula` begins the sentence. */
export interface UnreadFormula {
  readonly reason: string;
}

/**
 * Reads a formula as people write it in a table: `sum(orders.amount) where status = 'paid'`,
 * `count(distinct customer_id)`, `count(*)`, and arithmetic over such calls. Says why for anything
 * else, which a model has to read. Whether the columns exist is checked later, with the metric.
 */
export function parseTableFormula(text: string, filter = ''): ParsedFormula | UnreadFormula {
  const formula = text.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim();
  const parsed = parseAggregate(formula) ?? parseArithmetic(formula);
  if ('reason' in parsed) return parsed;
  const { condition, ...definition } = parsed;
  const conditions = [condition, filter.replaceAll('`', '').trim()].filter((part) => part !== '');
  const where =
    conditions.length > 1 ? conditions.map((part) => `(${part})`).join(' and ') : conditions[0];
  const measured = 'expr' in definition ? definition.expr : definition.of;
  const datasets = new Set([measured, where].flatMap(qualifyingDatasets));
  if (datasets.size > 1) return { reason: 'formula over several tables' };
  const body = {
    ...('expr' in definition
      ? { expr: withoutQualifiers(definition.expr) }
      : {
          agg: definition.agg,
          ...(definition.of !== undefined && { of: withoutQualifiers(definition.of) }),
        }),
    ...(where !== undefined && { where: withoutQualifiers(where) }),
  };
  return { body, dataset: [...datasets][0], isArithmetic: 'expr' in definition };
}

interface AggregateArgument {
  readonly agg: string;
  readonly of: string | undefined;
}

type FormulaParts = (AggregateArgument | { readonly expr: string }) & {
  /** Empty without one. */
  readonly condition: string;
};

/** One call, with or without a condition. */
function parseAggregate(formula: string): FormulaParts | undefined {
  const call = parseFormulaCall(formula);
  const condition = call && parseCondition(call.rest);
  const argument = call && parseArgument(call);
  if (condition === undefined || argument === undefined) return undefined;
  return { ...argument, condition };
}

/** What stands between the calls: numbers, operators, and functions of the values. */
const arithmetic =
  /^(?:[\s()+\-*/,]|\d+(?:\.\d+)?(?!\d)|\b(?:nullif|coalesce|round|abs)(?= ?\())*$/i;
/** Nobody writes a longer formula into a table. */
const longestArithmetic = 2000;
const callStart = /\b([a-z]+) ?\(/gi;

/** Calls with numbers and operators between them. */
function parseArithmetic(formula: string): FormulaParts | UnreadFormula {
  if (formula.length > longestArithmetic) return { reason: 'formula that code cannot read' };
  const text = formula.replaceAll('−', '-').replaceAll('×', '*').replaceAll('÷', '/');
  const [calls, between]: [string[], string[]] = [[], []];
  let position = 0;
  for (const { index } of text.matchAll(callStart)) {
    const call = index < position ? undefined : parseFormulaCall(text.slice(index));
    const argument = call && parseArgument(call);
    if (call === undefined || argument === undefined) continue;
    calls.push(writeCall(argument));
    between.push(text.slice(position, index));
    position = text.length - call.rest.length;
    if (text[position - 1] === ' ') position -= 1;
  }
  if (calls.length === 0) return { reason: 'formula without an aggregate such as sum(…)' };
  const { tail = '' } =
    /\b(?<tail>(?:where|if|only)\b.*)$/i.exec(text.slice(position))?.groups ?? {};
  const condition = parseCondition(tail);
  const last = text.slice(position, text.length - tail.length);
  const isArithmetic = [...between, last].every((part) => arithmetic.test(part));
  if (condition === undefined || !isArithmetic) return { reason: 'formula that code cannot read' };
  const written = calls.map((call, index) => `${between[index]}${call}`).join('');
  return { expr: (written + last).trim(), condition };
}

function writeCall({ agg, of = '*' }: AggregateArgument): string {
  return agg === 'count_distinct' ? `count(distinct ${of})` : `${agg}(${of})`;
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
function parseArgument({ aggregate, argument }: FormulaCall): AggregateArgument | undefined {
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
