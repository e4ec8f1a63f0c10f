import { isRecord } from '../../lib/json.ts';

/** A clause of either generation of MBQL: `["sum", ["field", 7, null]]`. */
export interface Clause {
  readonly op: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly args: readonly ClauseArgument[];
}
export type ClauseArgument =
  | { readonly kind: 'clause'; readonly clause: Clause }
  | { readonly kind: 'value'; readonly value: unknown };

export interface MbqlJoin {
  readonly table: number | undefined;
  readonly alias: string | undefined;
  readonly strategy: string;
  /** `all`, `none`, or the fields that it adds to the rows. */
  readonly fields: 'all' | 'none' | readonly Clause[];
  readonly conditions: readonly Clause[];
}

/** What a card asks for. */
export type CardQuery =
  | { readonly kind: 'native'; readonly sql: string }
  | {
      readonly kind: 'mbql';
      readonly table: number | undefined;
      /** The card whose rows it reads instead of a table. */
      readonly card: number | undefined;
      readonly aggregations: readonly Clause[];
      /** What it groups by. */
      readonly groups: readonly Clause[];
      readonly orders: readonly Clause[];
      readonly limit: number | undefined;
      /** The fields that rows have; undefined for all. */
      readonly fields: readonly Clause[] | undefined;
      readonly filters: readonly Clause[];
      readonly joins: readonly MbqlJoin[];
      /** Keys with no place here, like `expressions`; `stages` for a query over its own result. */
      readonly others: readonly string[];
    }
  | { readonly kind: 'unknown' };

export type MbqlQuery = Extract<CardQuery, { readonly kind: 'mbql' }>;

/** Reads both generations: `{type, query}`, and `{stages}` since version 57. */
export function readCardQuery(query: Readonly<Record<string, unknown>>): CardQuery {
  const stages = listOf(query['stages']).filter(isRecord);
  const [first] = stages;
  if (first !== undefined) {
    const hasMore = stages.length > 1;
    // A stage over the rows of SQL changes them.
    if (typeof first['native'] === 'string')
      return hasMore ? { kind: 'unknown' } : { kind: 'native', sql: first['native'] };
    return readStage(first, { isCurrent: true, hasMore });
  }
  const native = isRecord(query['native']) ? query['native']['query'] : undefined;
  if (typeof native === 'string') return { kind: 'native', sql: native };
  const legacy = query['query'];
  if (!isRecord(legacy)) return { kind: 'unknown' };
  return readStage(legacy, { isCurrent: false, hasMore: isRecord(legacy['source-query']) });
}

interface Generation {
  /** Options come first in every clause; before, only a field had some, at the end. */
  readonly isCurrent: boolean;
  readonly hasMore: boolean;
}

/** Keys that say nothing about the rows, or that `readStage` reads. */
const readKeys = new Set(
  (
    'aggregation breakout condition filter filters joins lib/options lib/type order-by ' +
    'source-card source-query source-table aggregation-idents breakout-idents limit fields'
  ).split(' '),
);

/** Keys of a stage that is a whole table. */
const tableKeys = new Set(['lib/options', 'lib/type', 'source-table']);

function readStage(stage: Readonly<Record<string, unknown>>, generation: Generation): CardQuery {
  const { isCurrent, hasMore } = generation;
  let isWhole = true;
  const clauses = (value: unknown) =>
    clauseList(value).flatMap((written) => {
      const clause = readClause(written, isCurrent, 0);
      if (clause === undefined && written !== undefined && written !== null) isWhole = false;
      return clause ?? [];
    });
  const filters = clauses(isCurrent ? stage['filters'] : [stage['filter']]);
  const others = Object.keys(stage).filter((key) => !readKeys.has(key));
  const query = {
    table: numberOf(stage['source-table']),
    card: sourceCard(stage),
    aggregations: clauses(stage['aggregation']),
    groups: clauses(stage['breakout']),
    orders: clauses(stage['order-by']),
    limit: numberOf(stage['limit']),
    fields: Array.isArray(stage['fields']) ? clauses(stage['fields']) : undefined,
    filters,
    joins: listOf(stage['joins']).map((join) => readJoin(isRecord(join) ? join : {}, clauses)),
  };
  isWhole &&= hasKnownForms(stage, isCurrent);
  const unread = [
    ...(hasMore ? ['stages'] : []),
    ...(isWhole ? [] : ['a clause in no known form']),
  ];
  return { kind: 'mbql', ...query, others: [...others, ...unread].sort() };
}

/** False if a key that is read has a value that is not, or one of the other generation. */
function hasKnownForms(stage: Readonly<Record<string, unknown>>, isCurrent: boolean): boolean {
  const { joins, limit, fields } = stage;
  const isThere = (value: unknown) => value !== undefined && value !== null;
  return (
    !isThere(stage[isCurrent ? 'filter' : 'filters']) &&
    !(isThere(joins) && !Array.isArray(joins)) &&
    !(isThere(limit) && typeof limit !== 'number') &&
    !(isThere(fields) && fields !== 'all' && !Array.isArray(fields))
  );
}

/** Old questions have one clause where a list of them belongs: `["count"]`. */
function clauseList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [value];
  return typeof value[0] === 'string' ? [value] : value;
}

function readJoin(
  join: Readonly<Record<string, unknown>>,
  clauses: (value: unknown) => Clause[],
): MbqlJoin {
  const [stage, ...more] = listOf(join['stages']).filter(isRecord);
  const source = stage ?? join;
  const isTable = stage === undefined || Object.keys(stage).every((key) => tableKeys.has(key));
  const isPlain = isTable && more.length === 0;
  return {
    table: isPlain ? numberOf(source['source-table']) : undefined,
    alias: typeof join['alias'] === 'string' ? join['alias'] : undefined,
    strategy: typeof join['strategy'] === 'string' ? join['strategy'] : 'left-join',
    fields: joinedFields(join['fields'], clauses),
    conditions: clauses(stage === undefined ? [join['condition']] : join['conditions']),
  };
}

/** Without a statement, a join adds no fields. */
function joinedFields(value: unknown, clauses: (value: unknown) => Clause[]): MbqlJoin['fields'] {
  if (value === 'all') return 'all';
  return Array.isArray(value) ? clauses(value) : 'none';
}

/** Deeper clauses are not read; people nest four or five. */
const deepest = 50;

function readClause(value: unknown, isCurrent: boolean, depth: number): Clause | undefined {
  const [op, ...rest] = listOf(value);
  if (typeof op !== 'string' || depth > deepest) return undefined;
  // A name that people see for an aggregation changes no value.
  if (!isCurrent && op === 'aggregation-options') return readClause(rest[0], isCurrent, depth + 1);
  const hasOptionsFirst = isCurrent && isRecord(rest[0]);
  const last = rest.at(-1);
  const isLegacyOptions = !isCurrent && rest.length > 1 && (isRecord(last) || last === null);
  const options = hasOptionsFirst ? rest[0] : isLegacyOptions ? last : undefined;
  const args = hasOptionsFirst ? rest.slice(1) : isLegacyOptions ? rest.slice(0, -1) : rest;
  return {
    op,
    options: isRecord(options) ? options : {},
    args: args.map((arg): ClauseArgument => {
      const clause = readClause(arg, isCurrent, depth + 1);
      return clause === undefined ? { kind: 'value', value: arg } : { kind: 'clause', clause };
    }),
  };
}

function sourceCard(stage: Readonly<Record<string, unknown>>): number | undefined {
  const [, legacy] = /^card__(\d+)$/.exec(String(stage['source-table'])) ?? [];
  return legacy === undefined ? numberOf(stage['source-card']) : Number(legacy);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
