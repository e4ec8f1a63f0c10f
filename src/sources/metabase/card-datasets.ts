import { slug } from '../../context/catalog/slug.ts';
import type { Catalog } from '../../context/catalog/catalog.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { FieldType } from '../../sql/field-type.ts';
import { findQueryPlace } from '../query-datasets/query-place.ts';
import { type BoundMetabase, type BoundTable, fieldsOfTable } from './bind-tables.ts';
import { conditionSql, fieldSql, type QueryFields, UnsaidQuery } from './query-conditions.ts';
import type { StoredCard, StoredSnippet } from './read-items.ts';
import { type MbqlJoin, type MbqlQuery, readCardQuery } from './read-query.ts';
import { type DescribedTags, describedTags, readSqlTag, unfilledSql } from './sql-tags.ts';

/** A card whose rows others read, as a dataset. */
export interface CardDataset {
  readonly connection: string;
  readonly dataset: string;
  readonly sql: string;
  readonly fields: readonly CardField[];
}

interface CardField {
  readonly name: string;
  readonly type: FieldType;
  readonly label?: string | undefined;
}

export interface CardDatasets {
  /** By the number of the card. */
  readonly datasets: ReadonlyMap<number, CardDataset>;
  /** Why a model, or a question that others read, is none. */
  readonly reasons: ReadonlyMap<number, string>;
}

interface ReadingCards {
  readonly bound: BoundMetabase;
  readonly catalogs: ReadonlyMap<string, Catalog>;
  readonly cards: ReadonlyMap<number, StoredCard>;
  readonly snippets: readonly StoredSnippet[];
}

/** The models, and the questions that other cards read. Runs inside `withAnalyzer`. */
export function readCardDatasets(context: ReadingCards): CardDatasets {
  const datasets = new Map<number, CardDataset>();
  const reasons = new Map<number, string>();
  const read = new Set([...context.cards.values()].flatMap(cardsBehind));
  const names = new Set<string>();
  const wanted = [...context.cards.values()]
    .filter((card) => card.archived !== true && (card.type === 'model' || read.has(card.id)))
    .toSorted((a, b) => a.id - b.id);
  for (const card of wanted) {
    const name = slug(card.name);
    const dataset = names.has(name) ? `${name}_${card.id}` : name;
    names.add(name);
    const result = tryRead(card, dataset, context);
    if ('reason' in result) reasons.set(card.id, result.reason);
    else datasets.set(card.id, result);
  }
  return { datasets, reasons };
}

/** The cards that a card reads. */
function cardsBehind(card: StoredCard): readonly number[] {
  const query = readCardQuery(card.query);
  if (query.kind === 'native') return [...query.sql.matchAll(cardTag)].map(([, id]) => Number(id));
  return query.kind === 'mbql' && query.card !== undefined ? [query.card] : [];
}

const cardTag = /\{\{\s*#(\d+)[^{}]{0,200}\}\}/g;

function tryRead(
  card: StoredCard,
  dataset: string,
  context: ReadingCards,
): CardDataset | { readonly reason: string } {
  const database = context.bound.databases.get(card.database_id ?? -1);
  if (database === undefined) return { reason: 'its database is no warehouse of ktx' };
  try {
    const { sql, fields } = rowsOf(card, context, []);
    const place = findQueryPlace({ dataset, sql }, { ...database, catalogs: context.catalogs });
    if ('reason' in place) return place;
    if (fields.length === 0) return { reason: 'Metabase does not say its columns' };
    return { connection: place.connection, dataset, sql, fields };
  } catch (error) {
    if (error instanceof UnsaidQuery) return { reason: `ktx cannot say ${error.message}` };
    throw error;
  }
}

interface CardRows {
  readonly sql: string;
  readonly fields: readonly CardField[];
}

/** In characters. A query that repeats others grows with each of them. */
const longestQuery = 99_000;

/** The rows of a card as SQL. `open` are the cards that read it. */
function rowsOf(card: StoredCard, context: ReadingCards, open: readonly number[]): CardRows {
  if (open.includes(card.id) || open.length > 20)
    throw new UnsaidQuery('a question that reads itself');
  const query = readCardQuery(card.query);
  if (query.kind === 'unknown') throw new UnsaidQuery('a query in an unknown form');
  const path = [...open, card.id];
  const rows =
    query.kind === 'native'
      ? nativeRows(card, query.sql, { ...context, path })
      : mbqlRows(query, { ...context, path });
  if (rows.sql.length > longestQuery) throw new UnsaidQuery('a query of that length');
  return rows;
}

type CardPath = ReadingCards & { readonly path: readonly number[] };

function nativeRows(card: StoredCard, written: string, context: CardPath): CardRows {
  const tags = describedTags(card.query);
  const sql = filledSql(written.trim().replace(/;$/, ''), tags, { ...context, inside: [] });
  const fields = (card.columns ?? []).map(({ name, base_type: type, display_name: label }) => ({
    name,
    type: typeOf(type),
    label: label ?? undefined,
  }));
  return { sql, fields };
}

/** The SQL with the snippets and questions in it, as Metabase runs it without values. */
function filledSql(
  written: string,
  tags: DescribedTags,
  context: CardPath & { readonly inside: readonly StoredSnippet[] },
): string {
  const { snippets, inside } = context;
  const sql = unfilledSql(
    written,
    (name) => readSqlTag(name, tags),
    ({ kind, id }, name) => {
      if (kind === 'card') return `(${rowsOfCard(id, context).sql})`;
      if (kind !== 'snippet') throw new UnsaidQuery(`the parameter {{${name}}}`);
      const called = name.replace(/^snippet:/, '').trim();
      const snippet = snippets.find((own) => (id < 0 ? own.name === called : own.id === id));
      if (snippet === undefined) throw new UnsaidQuery(`the ${name}, which is not here`);
      if (inside.includes(snippet)) throw new UnsaidQuery('a snippet that reads itself');
      const own = { ...tags, ...snippet.tags };
      return filledSql(snippet.content, own, { ...context, inside: [...inside, snippet] });
    },
  );
  if (sql.length > longestQuery) throw new UnsaidQuery('a query of that length');
  const [rest] = /\{\{|\[\[/.exec(sql) ?? [];
  if (rest !== undefined) throw new UnsaidQuery(`SQL with ${rest}, which is no tag`);
  return sql;
}

function rowsOfCard(id: number, context: CardPath): CardRows {
  const card = context.cards.get(id);
  if (card === undefined) throw new UnsaidQuery(`the question ${id}, which is not here`);
  return rowsOf(card, context, context.path);
}

const typesOfMetabase: ReadonlyMap<string, FieldType> = new Map([
  ['type/Integer', 'integer'],
  ['type/BigInteger', 'integer'],
  ['type/Float', 'decimal'],
  ['type/Decimal', 'decimal'],
  ['type/Text', 'string'],
  ['type/Boolean', 'boolean'],
  ['type/Date', 'date'],
  ['type/DateTime', 'datetime'],
  ['type/DateTimeWithLocalTZ', 'datetime_tz'],
  ['type/DateTimeWithTZ', 'datetime_tz'],
]);

function typeOf(baseType: string | null | undefined): FieldType {
  return typesOfMetabase.get(baseType ?? '') ?? 'unknown';
}

/** Rows of tables: joined, filtered, not added up. */
function mbqlRows(query: MbqlQuery, context: CardPath): CardRows {
  if (query.aggregations.length + query.groups.length > 0)
    throw new UnsaidQuery('the rows of a question that adds up');
  if (query.limit !== undefined) throw new UnsaidQuery('rows with a limit');
  const [other] = query.others;
  if (other !== undefined) throw new UnsaidQuery(`rows with ${other}`);
  if (query.card !== undefined) return filteredRows(query, query.card, context);
  const { bound } = context;
  const base = bound.tables.get(query.table ?? -1);
  if (base === undefined) throw new UnsaidQuery('a table that the warehouse does not have');
  const { dialect } = base;
  const joined = query.joins.map((join) => joinedTable(join, context));
  const sides: readonly TableSide[] = [
    { alias: undefined, owner: base, shown: query.fields ?? 'all' },
    ...joined,
  ];
  const fields = sideFields(sides, context);
  const items = listColumns(sides, fields);
  const joins = query.joins.map((join, index) => {
    const owner = joined[index]?.owner;
    if (owner === undefined) return '';
    const on = join.conditions.map((condition) => {
      const [left, right, ...more] = condition.args;
      if (condition.op !== '=' || more.length > 0) throw new UnsaidQuery('a join by more than =');
      return `${fieldSql(left, fields)} = ${fieldSql(right, fields)}`;
    });
    if (on.length === 0) throw new UnsaidQuery('a join without a condition');
    const kind = join.strategy === 'inner-join' ? 'INNER JOIN' : 'LEFT JOIN';
    return `\n${kind} ${tableSql(owner)} AS ${dialect.quote(sideName(join.alias))} ON ${on.join(' AND ')}`;
  });
  const where = query.filters.map((filter) => conditionSql(filter, fields));
  return {
    sql:
      `SELECT ${items.map(({ sql }) => sql).join(', ')}` +
      `\nFROM ${tableSql(base)} AS ${dialect.quote(sideName(undefined))}${joins.join('')}` +
      (where.length === 0 ? '' : `\nWHERE ${where.join(' AND ')}`),
    fields: items.map(({ field }) => field),
  };
}

interface TableSide {
  /** Of the join; undefined for the table that the query starts from. */
  readonly alias: string | undefined;
  readonly owner: BoundTable;
  readonly shown: MbqlJoin['fields'];
}

function joinedTable(join: MbqlJoin, { bound }: CardPath): TableSide {
  const owner = bound.tables.get(join.table ?? -1);
  if (owner === undefined) throw new UnsaidQuery('a join of something else than a known table');
  if (!['left-join', 'inner-join'].includes(join.strategy))
    throw new UnsaidQuery(`a ${join.strategy}`);
  return { alias: join.alias, owner, shown: join.fields };
}

function sideName(alias: string | undefined): string {
  return alias === undefined ? 'base' : `join_${slug(alias)}`;
}

function tableSql({ table, dialect }: BoundTable): string {
  const { catalog, schema, table: name } = table.table;
  const parts = catalog === undefined ? [schema, name] : [catalog, schema, name];
  return parts.map((part) => dialect.quote(part)).join('.');
}

function sideFields(sides: readonly TableSide[], { bound }: CardPath): QueryFields {
  const [base] = sides;
  if (base === undefined) throw new UnsaidQuery('a query without a table');
  const { dialect } = base.owner;
  const { segmentOf } = fieldsOfTable(base.owner, bound);
  return {
    dialect,
    // Its conditions name columns of the table alone.
    segmentOf: sides.length === 1 ? segmentOf : () => undefined,
    fieldOf: (id, alias) => {
      const side = sides.find((own) => own.alias === alias);
      const field = side && fieldsOfTable(side.owner, bound).fieldOf(id);
      if (field?.column === undefined) return undefined;
      return { ...field, sql: `${dialect.quote(sideName(alias))}.${dialect.quote(field.column)}` };
    },
  };
}

/** The columns of all sides, named as Metabase names them: the second `id` is `id_2`. */
function listColumns(
  sides: readonly TableSide[],
  fields: QueryFields,
): readonly { readonly sql: string; readonly field: CardField }[] {
  const counts = new Map<string, number>();
  return sides.flatMap(({ alias, owner, shown }) => {
    const listed =
      shown === 'all'
        ? owner.stored.fields.map(({ id }) => ({ id, alias }))
        : (shown === 'none' ? [] : shown).map(({ args: [id], options }) => ({
            id: id?.kind === 'value' && typeof id.value === 'number' ? id.value : -1,
            alias: typeof options['join-alias'] === 'string' ? options['join-alias'] : alias,
          }));
    return listed.map(({ id, alias: side }) => {
      const field = fields.fieldOf(id, side);
      if (field === undefined) throw new UnsaidQuery('a field that the table does not have');
      if (field.isCoerced) throw new UnsaidQuery('a field whose values Metabase converts');
      const count = (counts.get(field.name) ?? 0) + 1;
      counts.set(field.name, count);
      const name = count === 1 ? field.name : `${field.name}_${count}`;
      return {
        sql: `${field.sql} AS ${fields.dialect.quote(name)}`,
        field: { name, type: field.type },
      };
    });
  });
}

/** The rows of another card that meet a condition. */
function filteredRows(query: MbqlQuery, id: number, context: CardPath): CardRows {
  if (query.joins.length > 0) throw new UnsaidQuery('a join of another question');
  if (query.fields !== undefined) throw new UnsaidQuery('some columns of another question');
  const rows = rowsOfCard(id, context);
  const owner = context.cards.get(id);
  const database = context.bound.databases.get(owner?.database_id ?? -1);
  if (database === undefined) throw new UnsaidQuery('a database that is no warehouse');
  const { dialect } = database;
  const fields = { dialect, fieldOf: fieldsOfRows(rows.fields, context.bound, dialect) };
  const where = query.filters.map((filter) => conditionSql(filter, fields));
  if (where.length === 0) return rows;
  const sql = `SELECT * FROM (\n${rows.sql}\n) AS base WHERE ${where.join(' AND ')}`;
  return { sql, fields: rows.fields };
}

/** The columns of a card by their names; by number where the column is that of a table. */
export function fieldsOfRows(
  rows: readonly CardField[],
  { fields }: Pick<BoundMetabase, 'fields'>,
  dialect: Dialect,
): QueryFields['fieldOf'] {
  return (id, alias) => {
    const name = typeof id === 'number' ? fields.get(id)?.name : id;
    const field = alias === undefined ? rows.find((own) => own.name === name) : undefined;
    return field && { ...field, sql: dialect.quote(field.name), isCoerced: false };
  };
}
