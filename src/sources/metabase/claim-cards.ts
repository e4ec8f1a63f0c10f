import { slug } from '../../context/catalog/slug.ts';
import { subjects } from '../../context/claims/claim.ts';
import type { ClaimCollector, ItemPlace } from '../claim-collector.ts';
import { claimExposure } from '../claim-exposure.ts';
import type { KnownTable } from '../table-finder.ts';
import type { BoundField, BoundMetabase } from './bind-tables.ts';
import { plainConfidence } from './claim-tables.ts';
import { metricOfQuery } from './metric-of-query.ts';
import type { StoredCard } from './read-items.ts';
import { type CardQuery, type Clause, readCardQuery } from './read-query.ts';
import { tablesOfSql } from '../query-datasets/tables-of-sql.ts';
import { withoutTags } from './sql-tags.ts';

interface CardClaims {
  readonly bound: BoundMetabase;
  readonly cards: ReadonlyMap<number, StoredCard>;
  readonly collector: ClaimCollector;
}

type MbqlQuery = Extract<CardQuery, { kind: 'mbql' }>;

const verifiedConfidence = 0.9;

/**
 * Claims a term for each card, with the datasets behind it; a metric for what a card computes
 * without groups; and the joins of MBQL to a primary key.
 */
export function claimCards(
  cards: readonly StoredCard[],
  context: Pick<CardClaims, 'bound' | 'collector'>,
): void {
  const claims = { ...context, cards: new Map(cards.map((card) => [card.id, card])) };
  for (const card of cards) {
    if (card.archived !== true) claimCard(card, claims);
  }
}

function claimCard(card: StoredCard, claims: CardClaims): void {
  const { collector } = claims;
  const query = readCardQuery(card.query);
  const place = { key: card.key, line: 1, quote: card.description ?? card.name };
  const tables = tablesOfCard(card, claims, []);
  claimTerm(card, { place, tables, collector });
  if (query.kind === 'unknown') return collector.leaveOut(place, 'question in an unknown form');
  if (query.kind === 'native') {
    collector.addUnread({ key: card.key, line: 2 }, { what: 'sql', text: query.sql });
    return;
  }
  for (const join of query.joins) claimJoin(join, card, claims);
  const isMetric = card.type === 'metric';
  if (isMetric || (card.type === 'question' && !query.hasGroups && query.aggregations.length > 0))
    claimMetric(card, query, claims);
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
  }: {
    readonly place: ItemPlace;
    readonly tables: readonly KnownTable[];
    readonly collector: ClaimCollector;
  },
): void {
  const exposure = {
    name: `${card.name.trim()} (Metabase ${card.type} ${card.id})`,
    description: card.description?.trim() ?? '',
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
  const fieldOf = (id: number) => {
    const field = bound.fields.get(id);
    if (field?.owner !== owner) return undefined;
    const column = table.table.columns.find(({ name }) => table.field(name) === field.name);
    const isCoerced = (field.stored.coercion_strategy ?? '') !== '';
    return { name: field.name, type: column?.type ?? 'unknown', isCoerced };
  };
  const read = metricOfQuery(query, { dialect, fieldOf });
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
