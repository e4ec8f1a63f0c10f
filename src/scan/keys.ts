import type { KeyFinding } from '../context/catalog.ts';
import { sameTable } from '../sql/dialect.ts';
import { columnId, type ColumnFacts, type TableFacts } from './facts.ts';
import { measureAll, uniquenessOf, type MeasureContext, type Measured } from './measure.ts';
import { isMeasure, matchNames } from './names.ts';

/** A column that other tables may refer to. */
export interface ParentKey {
  readonly table: TableFacts;
  readonly column: ColumnFacts;
  /** Probability that it is the table's key. */
  readonly prior: number;
  readonly primary: boolean;
  /** The name says that it is another table's key, here too. */
  readonly away: boolean;
}

export interface KeyFindings {
  readonly primaryKeys: readonly KeyFinding[];
  /** Unique columns, the primary ones included. */
  readonly parents: readonly ParentKey[];
}

interface Candidate {
  readonly table: TableFacts;
  readonly columns: readonly ColumnFacts[];
  readonly score: number;
}

/** Finds each table's primary key: declared, else unique columns by name, position, type; else a composite. */
export async function findKeys(tables: readonly TableFacts[], context: MeasureContext & { readonly ignoreDeclared: boolean }): Promise<KeyFindings> {
  const singles = tables.flatMap((table) => singleCandidates(table, tables, context.ignoreDeclared));
  const composites = tables.flatMap((table) => compositeCandidates(table, tables, singles));
  const unsure = [...singles.filter(({ columns }) => columns[0]?.profile.distinctExact === false), ...composites];
  const measured = await measureAll(unsure.map(({ table, columns }) => uniquenessOf(table, columns, context.warehouse.dialect)), context);
  const refuted = new Set(unsure.filter((_, index) => !isUnique(measured[index])));
  const alone = singles.filter((candidate) => !refuted.has(candidate));
  const minimal = composites.filter((set) => !refuted.has(set) && (bridges(set, tables) || !alone.some(({ columns: [column] }) => column && set.table.rows > 0 && set.columns.includes(column))));
  const unique = [...alone, ...minimal];
  const primaryKeys = tables.flatMap((table) => {
    const declared = context.ignoreDeclared ? undefined : table.schema.primaryKey;
    const finding = declared ? declaredKey(table, declared) : bestKey(table, unique.filter((candidate) => candidate.table === table), tables);
    return finding ? [finding] : [];
  });
  return { primaryKeys, parents: parentKeys(unique, primaryKeys, tables) };
}

const isUnique = (measured: Measured | undefined): boolean => measured === undefined || measured[2] <= 1;

function declaredKey(table: TableFacts, columns: readonly string[]): KeyFinding {
  return { table: refOf(table), columns, status: 'accepted', origin: 'declared', probability: 1, evidence: {} };
}

export function refOf({ schema: { catalog, schema, table } }: TableFacts) {
  return { ...(catalog === undefined ? {} : { catalog }), schema, table };
}

/** Columns without duplicates, as far as the profile can tell; in an empty table those that look like its key. */
function singleCandidates(table: TableFacts, tables: readonly TableFacts[], ignoreDeclared: boolean): Candidate[] {
  return table.columns.flatMap((column) => {
    const declared = !ignoreDeclared && [table.schema.primaryKey ?? [], ...table.schema.uniqueKeys].some((key) => key.length === 1 && key[0] === column.schema.name);
    if (column.family === undefined || (!declared && !mayBeUnique(column))) return [];
    return [{ table, columns: [column], score: declared ? Math.max(2, keyScore(column, table, tables)) : keyScore(column, table, tables) }];
  });
}

function mayBeUnique({ profile, present }: ColumnFacts): boolean {
  return profile.distinctExact ? profile.distinct === present : profile.distinct >= present * 0.85;
}

/** Log odds that a unique column is its table's primary key. */
function keyScore(column: ColumnFacts, table: TableFacts, tables: readonly TableFacts[]): number {
  const { parts, profile, position } = column;
  const generic = parts.entity.length === 0;
  const home = generic ? 1 : homeMatch(column, table);
  let score = -1.6 + (position === 0 ? 1.6 : position === 1 ? 0.4 : 0);
  score += parts.keyed ? 1.2 : 0;
  score += home >= 0.8 ? 2 : home * 1.2;
  score += column.family === 'integer' || profile.kind === 'uuid' ? 0.8 : 0;
  score -= isMeasure(parts) ? (position === 0 ? 1 : 2.5) : 0;
  score -= profile.kind === 'name' || profile.kind === 'email' || profile.kind === 'phone' ? 1.5 : 0;
  score -= profile.kind === 'text' ? 3 : 0;
  score -= column.family === 'date' ? 1 : 0;
  score -= profile.nulls > 0 ? 4 : 0;
  const extends_ = parts.entity.every((word) => table.parts.entity.includes(word));
  score -= livesElsewhere(column, table, tables) ? (extends_ ? 1 : 2.2) : 0;
  score -= table.rows <= 1 ? 0.7 : 0;
  return score;
}

export function homeMatch(column: ColumnFacts, table: TableFacts): number {
  const match = matchNames(column.parts.entity, table.parts.entity);
  return Math.max(match.full, matchNames(table.parts.entity, column.parts.entity).tail * 0.7);
}

/** Does the column's name name another table, or the key that another table starts with? */
export function livesElsewhere(column: ColumnFacts, table: TableFacts, tables: readonly TableFacts[]): boolean {
  if (column.parts.entity.length === 0 || homeMatch(column, table) >= 0.8) return false;
  const words = column.parts.words.join();
  const starts = (other: TableFacts): boolean => column.parts.keyed && column.position > 0 && other.columns[0]?.parts.words.join() === words;
  return tables.some((other) => other !== table && (homeOf(column, other) || starts(other)));
}

function homeOf(column: ColumnFacts, other: TableFacts): boolean {
  const { full, tail } = matchNames(column.parts.entity, other.parts.entity);
  return column.parts.keyed && Math.max(full, tail) >= 0.9;
}

/** Sets of two or three key-shaped columns, for tables that no column of their own identifies. */
function compositeCandidates(table: TableFacts, tables: readonly TableFacts[], singles: readonly Candidate[]): Candidate[] {
  const own = singles.filter((single) => single.table === table);
  const members = table.columns.filter((column) => isMember(column, table, tables)).slice(0, 7);
  if (own.some(({ score }) => score > 1) || table.rows === 1 || members.length < 2) return [];
  const sets = [...pairs(members), ...triples(members)].filter((columns) => mayIdentify(columns, table));
  const minimal = sets.filter((columns) => !sets.some((other) => other.length < columns.length && other.every((column) => columns.includes(column))));
  return minimal.map((columns) => ({ table, columns, score: compositeScore(columns, table, tables) })).sort((a, b) => b.score - a.score).slice(0, 4);
}

const bridges = ({ columns, table }: Pick<Candidate, 'columns' | 'table'>, tables: readonly TableFacts[]): boolean => columns.every((column) => livesElsewhere(column, table, tables));

function isMember(column: ColumnFacts, table: TableFacts, tables: readonly TableFacts[]): boolean {
  if (column.family === undefined || column.profile.nulls > 0 || column.profile.kind === 'text') return false;
  const early = column.position < 3 && (column.family === 'integer' || !isMeasure(column.parts));
  return column.parts.keyed || isOrdinal(column) || column.family === 'date' || early || livesElsewhere(column, table, tables);
}

const ordinals = /^(line|seq|sequence|position|pos|item|part|step|version|year|month|day|date|round|lap|language|lang|locale|number)$/;
const isOrdinal = ({ parts, family }: ColumnFacts): boolean => family !== 'text' && parts.words.some((word) => ordinals.test(word));

const pairs = <T>(list: readonly T[]): T[][] => list.flatMap((a, index) => list.slice(index + 1).map((b) => [a, b]));
const triples = <T>(list: readonly T[]): T[][] => list.flatMap((a, index) => pairs(list.slice(index + 1)).map((pair) => [a, ...pair]));

/** Checked without a query: enough combinations, and no duplicate among the first rows. */
function mayIdentify(columns: readonly ColumnFacts[], table: TableFacts): boolean {
  if (table.rows === 0) return columns.every(({ parts, position }) => parts.keyed && position < 3);
  const combinations = columns.reduce((product, { profile }) => product * Math.max(1, profile.distinct), 1);
  const tuples = columns[0]?.profile.codes.map((_, row) => columns.map(({ profile }) => profile.codes[row]).join()) ?? [];
  return combinations >= table.profile.rows * 0.9 && new Set(tuples).size === tuples.length;
}

function compositeScore(columns: readonly ColumnFacts[], table: TableFacts, tables: readonly TableFacts[]): number {
  const away = columns.filter((column) => livesElsewhere(column, table, tables)).length;
  const positions = columns.reduce((sum, { position }, index) => sum + position - index, 0);
  const keyed = columns.filter(({ parts }) => parts.keyed).length;
  const odd = columns.filter(({ profile, family }) => profile.kind === 'name' || family === 'date').length;
  const ordinal = columns.slice(1).filter((column) => isOrdinal(column) && !livesElsewhere(column, table, tables)).length;
  return 0.8 + away * 0.5 + keyed * 0.4 + ordinal * 0.8 - positions * 0.25 - (columns.length - 2) * 0.8 - odd * 0.5 - (table.rows === 0 ? 0.8 : 0);
}

function bestKey(table: TableFacts, candidates: readonly Candidate[], tables: readonly TableFacts[]): KeyFinding | undefined {
  const ranked = [...candidates].sort((a, b) => adjusted(b, tables) - adjusted(a, tables) || a.columns.length - b.columns.length);
  const [best, second] = ranked;
  if (!best) return undefined;
  const probability = sigmoid(adjusted(best, tables));
  if (probability < 0.2) return undefined;
  const evidence = {
    rows: table.rows,
    unique: table.profile.rows > 0,
    ...(table.profile.fraction < 1 ? { duplicates_below: Math.min(1, 3 / (table.profile.rows * table.profile.fraction)) } : {}),
    ...(second ? { next_best: second.columns.map(({ schema }) => schema.name) } : {}),
  };
  const columns = best.columns.map(({ schema }) => schema.name);
  return { table: refOf(table), columns, status: probability >= 0.5 ? 'accepted' : 'review', origin: 'inferred', probability, evidence };
}

/** A pair of foreign keys that gives the table its name, or is all it has, is the key even where one of them happens to be unique. */
function adjusted({ table, columns, score }: Candidate, tables: readonly TableFacts[]): number {
  if (columns.length === 1 || !bridges({ columns, table }, tables)) return score;
  const words = new Set(columns.flatMap(({ parts }) => parts.entity));
  const named = table.parts.entity.every((word) => words.has(word)) && columns.length === 2;
  return score + (named ? 3 : 0) + (table.columns.filter(({ family }) => family !== undefined).length === columns.length ? 2 : 0);
}

/** The probability, from log odds. */
export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

function parentKeys(unique: readonly Candidate[], primaryKeys: readonly KeyFinding[], tables: readonly TableFacts[]): ParentKey[] {
  const primary = new Map<string, number>();
  for (const { table, columns, probability } of primaryKeys) {
    const facts = tables.find(({ schema }) => sameTable(schema, table));
    const column = facts?.columns.find(({ schema }) => schema.name === columns[0]);
    if (column && columns.length === 1) primary.set(columnId(column), probability);
  }
  return unique.flatMap(({ table, columns: [column], columns, score }) => {
    if (!column || columns.length > 1) return [];
    const prior = primary.get(columnId(column));
    // A column beside the primary key is referred to seldom; one that does not look like a key never is.
    if (prior === undefined && (score < -1.5 || isMeasure(column.parts) || table.rows < 3)) return [];
    return [{ table, column, prior: prior ?? sigmoid(score) * 0.5, primary: prior !== undefined, away: livesElsewhere(column, table, tables) }];
  });
}
