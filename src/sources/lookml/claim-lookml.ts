import type { Json } from '../../lib/json.ts';
import { type ClaimKind, subjects } from '../../context/claims/claim.ts';
import type { LookmlPlace } from '../../semantic/formats/lookml/parse.ts';
import type { LookmlModel } from '../../semantic/formats/lookml/read.ts';
import { toDatasetName } from '../../semantic/formats/imported-model.ts';
import { synonymsFor } from '../../semantic/formats/metricflow/mapping/bound-model.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import type { ClaimCollector, ItemPlace } from '../claim-collector.ts';
import { findQueryPlace, type QueryPlaceContext } from '../query-datasets/query-place.ts';
import { bindQueryView, type BoundView, bindView } from './bind-view.ts';

export interface LookmlClaimContext extends QueryPlaceContext {
  readonly collector: ClaimCollector;
  readonly quoteAt: (place: LookmlPlace) => string | undefined;
}

type Claims = LookmlClaimContext & { readonly places: LookmlModel['places'] };

/**
 * Claims what the views and joins say about tables that a warehouse has. Returns the views with
 * their tables, by name.
 */
export function claimLookml(
  model: LookmlModel,
  context: LookmlClaimContext,
): ReadonlyMap<string, BoundView> {
  const claims = { ...context, places: model.places };
  const views = new Map<string, BoundView>();
  for (const dataset of model.datasets) {
    const view = bindOrReport(dataset, claims);
    if (view !== undefined) views.set(dataset.dataset, view);
  }
  for (const view of views.values()) claimView(view, claims);
  for (const join of model.joins) claimJoin(join, views, claims);
  return views;
}

function bindOrReport(dataset: Dataset, claims: Claims): BoundView | undefined {
  const place = placeOf(dataset.dataset, claims);
  const at = `view ${dataset.dataset}`;
  const { sql } = dataset;
  if (sql !== undefined) {
    const query = findQueryPlace({ dataset: dataset.dataset, sql }, claims);
    if ('connection' in query) return bindQueryView({ ...dataset, sql }, query.connection);
    const name = `${at}: ${query.reason}`;
    claims.collector.leaveOut(place, { what: 'derived table', name });
    return undefined;
  }
  // The reader has said why it has neither.
  if (dataset.source === undefined) return undefined;
  const [table = '', schema, database] = dataset.source
    .replaceAll(/["[\]]/g, '')
    .split('.')
    .toReversed();
  const match = claims.findTable({
    table,
    schemas: schema === undefined ? [] : [schema],
    database,
    isExact: schema !== undefined,
  });
  if (match.kind === 'found') return bindView(dataset, match.table, claims.dialect);
  if (match.kind === 'ambiguous')
    claims.collector.addProblem(place, `${at}: ${table} could be ${match.candidates.join(' or ')}`);
  else claims.collector.addProblem(place, `${at}: the warehouse has no table ${dataset.source}`);
  return undefined;
}

/** Where a member of a view stands; the view's first line for itself, and where that is unknown. */
function placeOf(name: string, { places, quoteAt }: Claims): ItemPlace {
  const member = name.includes('.') ? places.get(name) : undefined;
  const { file, line } = member ?? places.get(name.split('.')[0] ?? '') ?? { file: '', line: 1 };
  return { key: file, line, quote: quoteAt(member ?? { file, line }) };
}

function claimView(view: BoundView, claims: Claims): void {
  const { dataset, table } = view;
  const subject = subjects.dataset(table.connection, table.dataset);
  const place = placeOf(dataset.dataset, claims);
  const { collector } = claims;
  const { description, synonyms = [], primary_key: key = [] } = dataset;
  if (view.sql !== undefined)
    collector.addClaim(place, { subject, kind: 'dataset', body: { sql: view.sql } });
  // A view of a table under another name says what people call it.
  claimText({ subject, place, description }, collector);
  claimSynonyms(
    { subject, place, names: [dataset.dataset, ...synonyms], own: table.dataset },
    claims,
  );
  const columns = key.map((name) => view.columns.get(name));
  const [first] = key;
  if (first !== undefined && columns.every((column) => column !== undefined))
    collector.addClaim(placeOf(`${dataset.dataset}.${first}`, claims), {
      subject,
      kind: 'primary_key',
      body: columns,
    });
  claimFields(view, claims);
  claimMetrics(view, claims);
  for (const [member, reason] of view.lost) {
    const at = `${dataset.dataset}.${member.replace('()', '')}`;
    collector.addProblem(placeOf(at, claims), `view ${at}: left out: ${reason}`);
  }
}

function claimFields(view: BoundView, claims: Claims): void {
  const { dataset, table, columns, computed } = view;
  for (const { name, description, synonyms = [], type } of dataset.fields ?? []) {
    const own = columns.get(name) ?? name;
    const expr = computed.get(name);
    if (!columns.has(name) && expr === undefined) continue;
    const place = placeOf(`${dataset.dataset}.${name}`, claims);
    const subject = subjects.field(table.connection, table.dataset, own);
    if (expr !== undefined) {
      claims.collector.addClaim(place, { subject, kind: 'field', body: { expr } });
      if (type !== undefined && type !== 'unknown')
        claims.collector.addClaim(place, { subject, kind: 'type', body: type });
    }
    claims.collector.count(place);
    claimText({ subject, place, description }, claims.collector);
    claimSynonyms({ subject, place, names: [name, ...synonyms], own }, claims);
  }
}

function claimMetrics(view: BoundView, claims: Claims): void {
  const { dataset, table } = view;
  for (const metric of dataset.metrics ?? []) {
    const { name, description, unit, synonyms = [] } = metric;
    const body = view.metrics.get(name);
    if (body === undefined) continue;
    const place = placeOf(`${dataset.dataset}.${name}`, claims);
    const subject = subjects.metric(table.connection, table.dataset, name);
    claims.collector.addClaim(place, { subject, kind: 'metric', body });
    if (unit !== undefined) claims.collector.addClaim(place, { subject, kind: 'unit', body: unit });
    claimText({ subject, place, description }, claims.collector);
    claimSynonyms({ subject, place, names: synonyms, own: name }, claims);
  }
}

function claimJoin(
  { at, from, place, relationship }: LookmlModel['joins'][number],
  views: ReadonlyMap<string, BoundView>,
  claims: Claims,
): void {
  const { collector } = claims;
  const [own, target] = [views.get(toDatasetName(from)), views.get(relationship.to)];
  const item = { key: place.file, line: place.line, quote: claims.quoteAt(place) };
  const lose = (reason: string) => collector.addProblem(item, `${at}: left out: ${reason}`);
  if (own === undefined || target === undefined)
    return collector.leaveOut(item, 'join of a view without a table');
  if (typeof relationship.on === 'string')
    return lose('it has other conditions than equal columns, which ktx does not import');
  if (own.table.connection !== target.table.connection)
    return lose('its tables are in two warehouses');
  const pairs = Object.entries(relationship.on).map(
    ([left, right]) => [own.columns.get(left), target.columns.get(right)] as const,
  );
  const on: Record<string, Json> = {};
  for (const [left, right] of pairs) {
    if (left === undefined || right === undefined) return lose('its fields are not columns');
    on[left] = right;
  }
  const { role, cardinality = 'many_to_one' } = relationship;
  collector.addClaim(item, {
    subject: subjects.relationship(own.table.connection, own.table.dataset, Object.keys(on)),
    kind: 'relationship',
    body: {
      to: target.table.dataset,
      on,
      cardinality,
      ...(role === undefined ? {} : { role }),
      ...(target.sql === undefined ? {} : { beside: true }),
    },
  });
}

interface TextClaim {
  readonly subject: string;
  readonly place: ItemPlace;
  readonly description: string | undefined;
}

function claimText({ subject, place, description }: TextClaim, collector: ClaimCollector): void {
  if (!description?.trim()) return;
  const kind: ClaimKind = 'description';
  collector.addClaim(place, { subject, kind, body: description.trim() });
}

function claimSynonyms(
  {
    subject,
    place,
    names,
    own,
  }: {
    readonly subject: string;
    readonly place: ItemPlace;
    readonly names: readonly string[];
    readonly own: string;
  },
  { collector }: Claims,
): void {
  const body = synonymsFor(own, names);
  if (body.length > 0) collector.addClaim(place, { subject, kind: 'synonyms', body: [...body] });
}
