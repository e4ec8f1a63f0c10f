import { slug } from '../../context/catalog/slug.ts';
import { subjects } from '../../context/claims/claim.ts';
import { synonymsFor } from '../../semantic/formats/metricflow/mapping/bound-model.ts';
import type { ClaimCollector, ItemPlace } from '../claim-collector.ts';
import { claimExposure } from '../claim-exposure.ts';
import type { ExtractContext } from '../source.ts';
import type { KnownTable } from '../table-finder.ts';
import { type BoundField, type BoundMetabase, fieldsOfTable } from './bind-tables.ts';
import {
  type CardDataset,
  type CardDatasets,
  fieldsOfRows,
  readCardDatasets,
} from './card-datasets.ts';
import { plainConfidence } from './claim-tables.ts';
import { claimDashboards } from './dashboards/claim-dashboards.ts';
import { claimSegments } from './dashboards/claim-segments.ts';
import { metricOfQuery } from './metric-of-query.ts';
import { queryOfCard } from './query-of-card.ts';
import type { StoredCard, StoredMetabase } from './read-items.ts';
import { type Clause, type MbqlQuery, readCardQuery } from './read-query.ts';
import { tablesOfSql } from '../query-datasets/tables-of-sql.ts';
import { withoutTags } from './sql-tags.ts';

interface CardClaims {
  readonly bound: BoundMetabase;
  readonly cards: ReadonlyMap<number, StoredCard>;
  readonly collector: ClaimCollector;
  readonly read: CardDatasets;
}

const verifiedConfidence = 0.9;

/**
 * Claims a term for each card, with the datasets behind it; a metric for what a card computes
 * without groups; and the joins of MBQL to a primary key.
 */
export function claimCards(
  context: Pick<CardClaims, 'bound' | 'collector'> &
    Pick<ExtractContext<unknown>, 'catalogs'> & { readonly stored: StoredMetabase },
): void {
  const { cards, snippets, segments, dashboards } = context.stored;
  const byId = new Map(cards.map((card) => [card.id, card]));
  const read = readCardDatasets({ ...context, cards: byId, snippets });
  const claims = { ...context, cards: byId, read };
  for (const card of cards) {
    if (card.archived !== true) claimCard(card, claims);
    else context.collector.leaveOut({ key: card.key, line: 1 }, 'archived question');
  }
  claimSegments(segments, context);
  claimDashboards(dashboards, {
    ...context,
    tablesOf: (card) => tablesOfCard(card, claims, []),
    cards: byId,
  });
}

/** Companies have thousands of them. */
const sqlOfQuestion = 'its SQL is no model, and no other question reads it';

function claimCard(card: StoredCard, claims: CardClaims): void {
  const { collector, read } = claims;
  const query = readCardQuery(card.query);
  const place = { key: card.key, line: 1, quote: card.description ?? card.name };
  const tables = tablesOfCard(card, claims, []);
  const asked = query.kind === 'mbql' ? askedQuery(query, claims) : { reason: sqlOfQuestion };
  const asKtx = 'query' in asked ? asked.query : undefined;
  claimTerm(card, { place, tables, collector, query: asKtx });
  if (query.kind === 'unknown') return collector.leaveOut(place, 'question in an unknown form');
  const dataset = read.datasets.get(card.id);
  if (dataset !== undefined) claimCardDataset(card, dataset, collector);
  else if ('reason' in asked && card.type !== 'metric')
    collector.leaveOut(place, {
      what: 'question that is neither a query nor a dataset of ktx',
      name: `${card.type} ${card.id}, ${card.name}: ${read.reasons.get(card.id) ?? asked.reason}`,
    });
  if (query.kind === 'native')
    return collector.addUnread({ key: card.key, line: 2 }, { what: 'sql', text: query.sql });
  for (const join of query.joins) claimJoin(join, card, claims);
  if (card.type === 'metric' || (asKtx !== undefined && isNumberOfTable(card, query)))
    claimMetric(card, query, claims);
}

/** A question that gives one row of numbers. */
function isNumberOfTable({ type }: StoredCard, { table, groups, aggregations }: MbqlQuery) {
  const isNumber = groups.length === 0 && aggregations.length > 0;
  return type === 'question' && isNumber && table !== undefined;
}

/** The question over a table, or over a card that is a dataset. */
function askedQuery(query: MbqlQuery, { bound, read }: CardClaims): ReturnType<typeof queryOfCard> {
  const owner = bound.tables.get(query.table ?? -1);
  if (owner !== undefined) {
    const { dataset } = owner.table;
    const { dialect } = owner;
    return queryOfCard(query, { dataset, dialect, ...fieldsOfTable(owner, bound) });
  }
  const source = read.datasets.get(query.card ?? -1);
  const dialect = source && bound.dialectOf(source.connection);
  if (source === undefined || dialect === undefined)
    return { reason: read.reasons.get(query.card ?? -1) ?? 'it reads no known table' };
  const columnOf = fieldsOfRows(source.fields, bound, dialect);
  const fieldOf: typeof columnOf = (id, alias) => {
    const column = columnOf(id, alias);
    return column && { ...column, name: slug(column.name) };
  };
  const { hasMondayWeeks } = bound;
  return queryOfCard(query, { dataset: source.dataset, dialect, fieldOf, hasMondayWeeks });
}

function claimCardDataset(
  card: StoredCard,
  { connection, dataset, sql, fields }: CardDataset,
  collector: ClaimCollector,
): void {
  const confidence = confidenceOf(card);
  const place = { key: card.key, line: 2, quote: card.name };
  const subject = subjects.dataset(connection, dataset);
  collector.addClaim(place, { subject, kind: 'dataset', body: { sql }, confidence });
  const description = card.description?.trim() ?? '';
  if (description !== '')
    collector.addClaim(place, { subject, kind: 'description', body: description, confidence });
  const count = subjects.metric(connection, dataset, 'count');
  collector.addClaim(place, { subject: count, kind: 'metric', body: { agg: 'count' }, confidence });
  for (const [position, { name, type, label }] of fields.entries()) {
    const field = subjects.field(connection, dataset, slug(name));
    collector.addClaim(place, {
      subject: field,
      kind: 'field',
      body: { column: name, position },
      confidence,
    });
    if (type !== 'unknown')
      collector.addClaim(place, { subject: field, kind: 'type', body: type, confidence });
    const synonyms = [...synonymsFor(slug(name), [label])];
    if (synonyms.length > 0)
      collector.addClaim(place, { subject: field, kind: 'synonyms', body: synonyms, confidence });
  }
}

function confidenceOf({ verified }: StoredCard): number {
  return verified === true ? verifiedConfidence : plainConfidence;
}

function claimTerm(
  card: StoredCard,
  {
    place,
    tables,
    collector,
    query,
  }: {
    readonly place: ItemPlace;
    readonly tables: readonly KnownTable[];
    readonly collector: ClaimCollector;
    readonly query: object | undefined;
  },
): void {
  const asked = query === undefined ? [] : [`Query: ${JSON.stringify(query)}`];
  const exposure = {
    name: `${card.name.trim()} (Metabase ${card.type} ${card.id})`,
    description: [card.description?.trim() ?? '', ...asked].filter(Boolean).join('\n\n'),
    tables,
    tags: card.verified === true ? ['verified'] : [],
    confidence: confidenceOf(card),
  };
  claimExposure(exposure, place, collector);
}

/** The tables behind a card, through the cards that it reads. `open` are those on the way. */
function tablesOfCard(
  card: StoredCard,
  claims: CardClaims,
  open: readonly number[],
): readonly KnownTable[] {
  const { bound, cards, collector } = claims;
  if (open.includes(card.id) || open.length > 50) return [];
  const query = readCardQuery(card.query);
  if (query.kind === 'unknown') return [];
  if (query.kind === 'mbql') {
    const source = cards.get(query.card ?? -1);
    const behind = source === undefined ? [] : tablesOfCard(source, claims, [...open, card.id]);
    const own = [query.table, ...query.joins.map(({ table }) => table)];
    return [...behind, ...own.flatMap((id) => bound.tables.get(id ?? -1)?.table ?? [])];
  }
  const database = bound.databases.get(card.database_id ?? -1);
  if (database === undefined) return [];
  const names = tablesOfSql(withoutTags(query.sql), database.dialect);
  if (names === undefined && open.length === 0)
    collector.leaveOut({ key: card.key, line: 2 }, 'SQL that ktx cannot parse');
  return (names ?? []).flatMap(({ table, schema }) => {
    const schemas = schema === undefined ? [] : [schema];
    const match = database.findTable({ table, schemas, isExact: schema !== undefined });
    return match.kind === 'found' ? [match.table] : [];
  });
}

function claimMetric(card: StoredCard, query: MbqlQuery, claims: CardClaims): void {
  const { bound, collector } = claims;
  const owner = bound.tables.get(query.table ?? -1);
  const place = { key: card.key, line: 2, quote: card.name };
  const at = `${card.type} ${card.id}, ${card.name}`;
  if (owner === undefined)
    return collector.leaveOut(place, 'metric of a table that the warehouse does not have');
  const { table, dialect } = owner;
  const metricName = slug(card.name);
  const read = metricOfQuery(query, { dialect, ...fieldsOfTable(owner, bound) });
  if ('reason' in read)
    return collector.addProblem(place, `${at}: left out: ktx cannot say ${read.reason}`);
  if (table.field(metricName) !== undefined)
    return collector.addProblem(
      place,
      `${at}: left out: ${metricName} is a field of ${table.dataset}`,
    );
  const subject = subjects.metric(table.connection, table.dataset, metricName);
  const confidence = confidenceOf(card);
  collector.addClaim(place, { subject, kind: 'metric', body: { ...read.metric }, confidence });
  const description = card.description?.trim() ?? '';
  if (description !== '')
    collector.addClaim(place, { subject, kind: 'description', body: description, confidence });
}

/** Only a join to a primary key says which side is the one. */
function claimJoin(
  { conditions }: MbqlQuery['joins'][number],
  card: StoredCard,
  { bound, collector }: CardClaims,
): void {
  const place = { key: card.key, line: 2, quote: card.name };
  const [condition, ...more] = conditions;
  const ends = condition?.op === '=' ? condition.args.map((arg) => fieldEnd(arg, bound)) : [];
  const to = ends.find((end) => end?.stored.semantic_type === 'type/PK');
  const from = ends.find((end) => end !== to);
  if (more.length > 0 || from === undefined || to === undefined || from.owner === to.owner)
    return collector.leaveOut(place, 'join to columns other than a primary key');
  const { connection, dataset } = from.owner.table;
  if (to.owner.table.connection !== connection) return;
  collector.addClaim(place, {
    subject: subjects.relationship(connection, dataset, [from.name]),
    kind: 'relationship',
    body: { to: to.owner.table.dataset, on: { [from.name]: to.name } },
    confidence: confidenceOf(card),
  });
}

function fieldEnd(
  arg: Clause['args'][number],
  { fields }: Pick<BoundMetabase, 'fields'>,
): BoundField | undefined {
  if (arg.kind !== 'clause' || arg.clause.op !== 'field') return undefined;
  const [id] = arg.clause.args;
  return id?.kind === 'value' && typeof id.value === 'number' ? fields.get(id.value) : undefined;
}
