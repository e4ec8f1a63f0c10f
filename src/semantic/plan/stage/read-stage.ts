import type { Period } from '../../../sql/dialect.ts';
import { type Fragment, parseFragment } from '../../../sql/fragment.ts';
import { parsePeriod } from '../../model/grains.ts';
import { metricAddress, type SemanticModel } from '../../model/model.ts';
import { notSupportedError, queryError, unknownNameError } from '../../query/errors.ts';
import type { SemanticQuery } from '../../query/query.ts';
import { findMetric } from '../../resolve/metric-resolver.ts';

/** What a query computes over its own result, with all names checked. */
export interface Stage {
  /** The dimensions whose groups are the whole of a share; empty for the total. */
  readonly shareOf: readonly string[] | undefined;
  readonly compareTo: { readonly text: string; readonly period: Period } | undefined;
  readonly overRows: readonly RowComputation[];
  readonly top: TopRule | undefined;
  readonly hasRollup: boolean;
  /** Conditions on columns of the result. */
  readonly qualifiers: readonly Qualifier[];
}

/** SQL over columns of the result. */
export interface Qualifier {
  readonly fragment: Fragment;
  /** The column of a name that the SQL writes. */
  readonly columnOf: (written: string) => string;
}

const rowFunctions = ['rank', 'previous', 'next', 'running', 'average', 'to_average'] as const;
type RowFunction = (typeof rowFunctions)[number];

/** A column that is computed over the rows of the result. */
export interface RowComputation {
  readonly name: string;
  readonly compute: RowFunction;
  /** The column that it is computed of. */
  readonly of: string;
  readonly dir: 'asc' | 'desc';
  /** The dimensions within whose groups it is computed; undefined: what suits it. */
  readonly per: readonly string[] | undefined;
}

/** Only the groups with the greatest values are shown. */
interface TopRule {
  readonly count: number;
  readonly by: string;
  readonly dir: 'asc' | 'desc';
  readonly per: readonly string[];
  readonly hasOthers: boolean;
}

/** The columns that a share and a comparison add to each metric, by their last word. */
export const comparisons = ['previous', 'difference', 'growth'] as const;

interface KnownNames {
  readonly model: SemanticModel;
  readonly query: SemanticQuery;
  /** What the query writes for a name, by what it writes. */
  readonly replaced: ReadonlyMap<string, string>;
  /** The metrics of the query and the columns that are added to them. */
  readonly values: readonly string[];
}

/** Reads the options of the second stage. Throws if one names what the query does not ask for. */
export function readStage(
  model: SemanticModel,
  query: SemanticQuery,
  replaced: ReadonlyMap<string, string>,
): Stage {
  const metrics = query.metrics.map(nameOfMetric);
  checkUse(query, metrics);
  const added = [
    ...(query.share_of === undefined ? [] : ['share']),
    ...(query.compare_to === undefined ? [] : comparisons),
  ];
  const values = metrics.flatMap((name) => [name, ...added.map((word) => `${name}.${word}`)]);
  const known = { model, query, replaced, values };
  const { share_of, compare_to, top } = query;
  const overRows = query.over_rows.map((text) => readComputation(known, text));
  const computed = overRows.map(({ name }) => name);
  return {
    shareOf: share_of === undefined ? undefined : readWhole(known, share_of),
    compareTo:
      compare_to === undefined ? undefined : { text: compare_to, period: parsePeriod(compare_to) },
    overRows,
    qualifiers: query.qualify.map((text) => readQualifier(known, computed, text)),
    top: top === undefined ? undefined : readTop(known, top),
    hasRollup: query.rollup,
  };
}

function nameOfMetric(metric: SemanticQuery['metrics'][number]): string {
  return typeof metric === 'string' ? metric : metric.name;
}

/** Throws if an option has nothing to work on. */
function checkUse(query: SemanticQuery, metrics: readonly string[]): void {
  const { share_of, compare_to, over_rows, top, others, rollup, qualify } = query;
  const ofMetrics = {
    share_of: share_of !== undefined,
    compare_to: compare_to !== undefined,
    over_rows: over_rows.length > 0,
    top: top !== undefined,
    rollup,
  };
  const used = Object.entries(ofMetrics).find(([, isUsed]) => isUsed)?.[0];
  if (used !== undefined && metrics.length === 0)
    throw unusedOption(used, 'in a query without metrics', 'Add a metric, or leave it out.');
  if (others && top === undefined) throw unusedOption('others', 'without top', 'Add top: 3.');
  if (qualify.length > 0 && (others || rollup))
    throw notSupportedError(
      `qualify beside ${others ? 'others' : 'rollup'}`,
      'It is not clear whether the groups that qualify leaves out count in the other rows',
    );
  const ofGroups = rollup ? 'rollup' : top === undefined ? undefined : 'top';
  if (ofGroups !== undefined && query.dimensions.length === 0)
    throw unusedOption(ofGroups, 'without dimensions', 'Add a dimension, or leave it out.');
}

function unusedOption(option: string, where: string, hint: string) {
  return queryError('unused_option', `${option} has no effect ${where}`, hint);
}

/** `total`, or dimensions with commas between them. */
function readWhole(known: KnownNames, text: string): readonly string[] {
  if (text.trim() === 'total') return [];
  return splitNames(text).map((name) => findDimension(known, name, 'share_of'));
}

function splitNames(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}

/** `3`, `3 of revenue`, `3 of revenue asc per status`, `3 per status`. */
function readTop(known: KnownNames, text: string): TopRule {
  const { others, metrics, dimensions } = known.query;
  const [, digits = '', rest = ''] = /^\s*(\d{1,9})(\D.*)?$/s.exec(text) ?? [];
  const count = Number(digits);
  const [first = ''] = metrics.map(nameOfMetric);
  const what = rest.trim();
  const operand = what.startsWith('of ')
    ? what.slice('of '.length)
    : what.startsWith('per ')
      ? `${first} ${what}`
      : undefined;
  if (count === 0 || (operand === undefined && what !== ''))
    throw queryError('invalid_option', `top does not know what ${JSON.stringify(text)} means`, {
      hint: 'Write how many, of which metric, and per which dimensions.',
      choices: ['3', `3 of ${first}`],
    });
  const { of: by, dir, per = [] } = readOperand(known, operand ?? first, 'top');
  if (per.length < dimensions.length) return { count, by, dir, per, hasOthers: others };
  throw queryError(
    'unused_option',
    'top is per every dimension, so each group is the only one of its kind',
    'Leave out the dimension of which you want the top.',
  );
}

/** `revenue asc`: the smallest first. Without a direction the greatest come first. */
function splitDirection(text: string): { name: string; dir: 'asc' | 'desc' } {
  const trimmed = text.trim();
  const dir = trimmed.toLowerCase().endsWith(' asc') ? 'asc' : 'desc';
  const hasDirection = dir === 'asc' || trimmed.toLowerCase().endsWith(' desc');
  const name = hasDirection ? trimmed.slice(0, trimmed.lastIndexOf(' ')).trim() : trimmed;
  return { name, dir };
}

/** Throws for names that are no columns of the result. */
function readQualifier(known: KnownNames, computed: readonly string[], text: string): Qualifier {
  const { model, query, values } = known;
  const columns = [...query.dimensions, ...values, ...computed];
  const fragment = parseFragment(text, {
    dialect: model.dialect,
    origin: 'query',
    names: new Set(columns),
  });
  const [call] = [...fragment.aggregates, ...(fragment.metricCalls ?? [])];
  if (call !== undefined)
    throw queryError(
      'invalid_condition',
      `qualify reads columns of the result, and ${text.slice(call.start, call.end)} is none`,
      'Add it to the metrics with a name, or write the condition into having.',
    );
  const columnOf = (written: string): string => {
    const exact = [written, known.replaced.get(written) ?? ''].find((name) =>
      columns.includes(name),
    );
    const found = exact ?? lookUp(known, written);
    if (found !== undefined) return found;
    throw unknownNameError({ what: 'column of the result', name: written, candidates: columns });
  };
  for (const { parts } of fragment.references) columnOf(parts.join('.'));
  return { fragment, columnOf };
}

const example = 'rank of orders.revenue per orders.status';

/** `rank of revenue`, `running of revenue per status`, `place = rank of revenue asc`. */
function readComputation(known: KnownNames, text: string): RowComputation {
  const named = /^\s*([A-Za-z_]\w*)\s*=([^=].*)$/s.exec(text);
  const rest = (named?.[2] ?? text).trim();
  const compute = rowFunctions.find((name) => rest.startsWith(`${name} of `));
  if (compute === undefined)
    throw queryError(
      'invalid_option',
      `over_rows does not know how to compute ${JSON.stringify(text)}`,
      {
        hint: `Write what, of which metric, and per which dimensions: ${example}.`,
        choices: rowFunctions.map((name) => `${name} of ${known.values[0] ?? 'orders.revenue'}`),
      },
    );
  const what = rest.slice(compute.length + ' of '.length).trim();
  const { of, dir, per } = readOperand(known, what, 'over_rows');
  return { name: named?.[1] ?? `${of}.${compute}`, compute, of, dir, per };
}

/** A metric may itself be `avg(…) per field`: what is known as a whole is not split. */
function readOperand(
  known: KnownNames,
  text: string,
  option: string,
): Pick<RowComputation, 'of' | 'dir' | 'per'> {
  const whole = splitDirection(text);
  const index = text.lastIndexOf(' per ');
  if (index === -1 || lookUp(known, whole.name) !== undefined)
    return { of: findValue(known, whole.name), dir: whole.dir, per: undefined };
  const { name, dir } = splitDirection(text.slice(0, index));
  const per = splitNames(text.slice(index + ' per '.length)).map((dimension) =>
    findDimension(known, dimension, option),
  );
  return { of: findValue(known, name), dir, per };
}

function findDimension({ query, replaced }: KnownNames, name: string, option: string): string {
  const found = [name, replaced.get(name) ?? ''].find((text) => query.dimensions.includes(text));
  if (found !== undefined) return found;
  throw queryError(
    'no_group',
    `${option} names ${name}, but the query does not group by ${name}`,
    query.dimensions.length === 0
      ? `Add ${name} to the dimensions.`
      : { hint: `Or add ${name} to the dimensions.`, choices: query.dimensions },
  );
}

function findValue(known: KnownNames, name: string): string {
  const found = lookUp(known, name);
  if (found !== undefined) return found;
  throw unknownNameError({ what: 'metric of the query', name, candidates: known.values });
}

/** A column by its name, by a synonym, or by another name of the same metric. */
function lookUp({ model, replaced, values }: KnownNames, name: string): string | undefined {
  const exact = [name, replaced.get(name) ?? ''].find((text) => values.includes(text));
  if (exact !== undefined) return exact;
  const metric = findMetric(model, name.split('.'));
  const isSame = (value: string) => {
    const other = findMetric(model, value.split('.'));
    return (
      other !== undefined && metric !== undefined && metricAddress(other) === metricAddress(metric)
    );
  };
  return metric === undefined ? undefined : values.find(isSame);
}
