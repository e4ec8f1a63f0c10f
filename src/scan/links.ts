import type { KeyFinding, LinkFinding, Status } from '../context/catalog.ts';
import { sameTable, tableKey } from '../sql/dialect.ts';
import { findCandidates, isPolymorphic, withRivals } from './candidates.ts';
import { compositeLinks } from './composite-links.ts';
import type { ScanConfig } from './config.ts';
import { columnId, type ColumnFacts, type TableFacts } from './facts.ts';
import { exactEvidence, type Candidate } from './features.ts';
import { homeMatch, refOf, type KeyFindings } from './keys.ts';
import { inclusionOf, measureAll, type MeasureContext } from './measure.ts';
import { probabilityOf } from './model.ts';
import { matchNames } from './names.ts';

export interface LinkContext extends MeasureContext {
  readonly config: ScanConfig;
  readonly ignoreDeclared: boolean;
}

interface Scored {
  readonly candidate: Candidate;
  readonly probability: number;
}

const candidatesPerColumn = 4;
/** Pairs below this are not worth a measurement. */
const leastProbability = 0.02;

/** Declared links, and those that values and names prove; at most one accepted link leads from a column. */
export async function findLinks(tables: readonly TableFacts[], keys: KeyFindings, context: LinkContext): Promise<LinkFinding[]> {
  const declared = context.ignoreDeclared ? [] : tables.flatMap((table) => declaredLinks(table, keys));
  const known = new Set(declared.flatMap(({ from }) => (from.columns.length === 1 ? [`${tableKey(from.table)}${from.columns[0]}`] : [])));
  const candidates = findCandidates(tables, keys.parents).filter(({ child }) => !known.has(columnId(child)));
  const confirmed = await confirm(candidates, tables, context);
  const chosen = [...Map.groupBy(confirmed, ({ child }) => columnId(child)).values()].flatMap((group) => choose(group, tables, context.config));
  const found = withoutCycles(chosen).map(({ candidate, probability, status, why }) => finding({ candidate, probability }, { status, why, keys }));
  const composite = await compositeLinks(tables, { keys, declared }, context);
  return withRoles([...declared, ...found, ...composite], tables).sort(byPlace);
}

/** Measures the best pairs of each column exactly, one statement a parent. Exported for the model's training. */
export async function confirm(candidates: readonly Candidate[], tables: readonly TableFacts[], context: MeasureContext): Promise<Candidate[]> {
  const byTable = new Map(tables.map((table) => [table.schema, table]));
  const kept = [...Map.groupBy(candidates, ({ child }) => columnId(child)).values()].flatMap(likeliest);
  const measurable = kept.filter(({ child, parent }) => child.present > 0 && parent.table.rows > 0);
  const measurements = measurable.flatMap(({ child, parent }) => {
    const table = byTable.get(child.table);
    return table ? [inclusionOf({ table, columns: [child] }, { table: parent.table, columns: [parent.column] }, context.warehouse.dialect)] : [];
  });
  const results = await measureAll(measurements, context);
  const exact = new Map(measurable.map((candidate, index) => [candidate, results[index]]));
  const updated = kept.map((candidate) => {
    const measured = exact.get(candidate);
    return measured ? { ...candidate, values: exactEvidence(measured, candidate.parent) } : candidate;
  });
  return [...Map.groupBy(updated, ({ child }) => columnId(child)).values()].flatMap((group) => (group[0] ? withRivals(group, group[0]) : []));
}

function likeliest(group: readonly Candidate[]): Candidate[] {
  return group
    .map((candidate) => ({ candidate, probability: probabilityOf(candidate) }))
    .filter(({ probability }) => probability >= leastProbability)
    .sort((a, b) => b.probability - a.probability)
    .slice(0, candidatesPerColumn)
    .map(({ candidate }) => candidate);
}

interface Chosen extends Scored {
  readonly status: Status;
  readonly why?: string | undefined;
}

/** One parent a column: the likeliest; among equals the key that is at home, then the tightest. */
function choose(group: readonly Candidate[], tables: readonly TableFacts[], config: ScanConfig): Chosen[] {
  const ranked = group
    .map((candidate) => ({ candidate, probability: probabilityOf(candidate) }))
    .sort((a, b) => b.probability - a.probability || homeOf(b) - homeOf(a) || a.candidate.parent.column.profile.distinct - b.candidate.parent.column.profile.distinct || (a.candidate.parent.table.schema.table < b.candidate.parent.table.schema.table ? -1 : 1));
  const table = tables.find(({ schema }) => schema === group[0]?.child.table);
  const polymorphic = table !== undefined && group[0] !== undefined && isPolymorphic(group[0].child, table, tables);
  return ranked.map((scored, index) => {
    if (index > 0) return { ...scored, status: 'rejected', why: 'another parent fits better' };
    if (scored.probability < config.review) return { ...scored, status: 'rejected' };
    if (polymorphic) return { ...scored, status: 'review', why: 'polymorphic: a type column tells which table is meant' };
    const doubt = doubtOf(scored.candidate);
    return { ...scored, status: scored.probability >= config.accept && doubt === undefined ? 'accepted' : 'review', why: doubt };
  });
}

const homeOf = ({ candidate: { parent } }: Scored): number => (parent.column.parts.entity.length === 0 ? 1 : homeMatch(parent.column, parent.table));

/** Why a likely link still is a person's to accept. */
function doubtOf({ child, parent, names, ownKey, values }: Candidate): string | undefined {
  if (child.table.kind === 'view' || parent.table.schema.kind === 'view') return 'a view';
  if (child.present > 0 && parent.table.rows > 0) return values.exact || parent.table.profile.fraction < 1 ? undefined : 'not confirmed';
  const strong = Math.max(names.same, names.full, names.tail) >= 1 && child.schema.type === parent.column.schema.type;
  return strong && parent.primary && ownKey < 0.5 ? undefined : 'no rows to judge by';
}

/** Of two columns that refer to each other, the likelier direction stays. */
function withoutCycles(chosen: readonly Chosen[]): Chosen[] {
  const id = (child: ColumnFacts, parent: ColumnFacts): string => `${columnId(child)}>${columnId(parent)}`;
  const live = new Map(chosen.filter(({ status }) => status !== 'rejected').map((entry) => [id(entry.candidate.child, entry.candidate.parent.column), entry]));
  return chosen.map((entry) => {
    const { child, parent } = entry.candidate;
    const reverse = live.get(id(parent.column, child));
    if (entry.status === 'rejected' || !reverse) return entry;
    const loses = reverse.probability > entry.probability || (reverse.probability === entry.probability && columnId(child) > columnId(parent.column));
    return loses ? { ...entry, status: 'rejected', why: 'the other direction fits better' } : entry;
  });
}

function finding({ candidate, probability }: Scored, { status, why, keys }: { status: Status; why: string | undefined; keys: KeyFindings }): LinkFinding {
  const { child, parent, names, values } = candidate;
  const { catalog, schema, table } = child.table;
  const from = { table: { ...(catalog === undefined ? {} : { catalog }), schema, table }, columns: [child.schema.name] };
  const evidence = {
    measured: values.exact,
    containment: round(values.containment),
    coverage: round(values.coverage),
    ...(values.orphans === undefined ? {} : { orphans: values.orphans }),
    rows: candidate.childRows,
    name_similarity: round(names.best),
    key_probability: round(parent.prior),
    other_parents: candidate.rivals,
    ...(why === undefined ? {} : { why }),
  };
  const to = { table: refOf(parent.table), columns: [parent.column.schema.name] };
  return { from, to, status, origin: 'inferred', cardinality: cardinality(from, child.table.uniqueKeys, keys), probability, evidence };
}

export const round = (value: number): number => Math.round(value * 10_000) / 10_000;

export function cardinality(from: LinkFinding['from'], uniqueKeys: readonly (readonly string[])[], keys: { readonly primaryKeys: readonly KeyFinding[] }): LinkFinding['cardinality'] {
  const primary = keys.primaryKeys.filter(({ table, status }) => sameTable(table, from.table) && status === 'accepted').map(({ columns }) => columns);
  const wanted = [...from.columns].sort().join('\n');
  return [...primary, ...uniqueKeys].some((key) => [...key].sort().join('\n') === wanted) ? 'one_to_one' : 'many_to_one';
}

function declaredLinks(table: TableFacts, keys: KeyFindings): LinkFinding[] {
  return table.schema.foreignKeys.map(({ columns, to }) => {
    const from = { table: refOf(table), columns };
    return { from, to, status: 'accepted', origin: 'declared', cardinality: cardinality(from, table.schema.uniqueKeys, keys), probability: 1, evidence: {} };
  });
}

/** Where several accepted links lead from one table to another, each gets the words of its columns that the target does not explain. */
function withRoles(links: readonly LinkFinding[], tables: readonly TableFacts[]): LinkFinding[] {
  const pair = ({ from, to }: LinkFinding): string => `${tableKey(from.table)}>${tableKey(to.table)}`;
  const counts = Map.groupBy(links.filter(({ status }) => status === 'accepted'), pair);
  return links.map((link) => {
    if (link.status !== 'accepted' || (counts.get(pair(link))?.length ?? 0) < 2) return link;
    const child = tables.find(({ schema }) => sameTable(schema, link.from.table));
    const parent = tables.find(({ schema }) => sameTable(schema, link.to.table));
    const parts = child?.columns.find(({ schema }) => schema.name === link.from.columns[0])?.parts.entity ?? [];
    const target = [parent?.parts.entity ?? [], parent?.columns.find(({ schema }) => schema.name === link.to.columns[0])?.parts.entity ?? []];
    const explained = Math.max(0, ...target.map((entity) => (matchNames(parts, entity).tail > 0 ? entity.length : 0)));
    return { ...link, role: parts.slice(0, parts.length - explained).join('_') || parts.join('_') || link.from.columns.join('_') };
  });
}

function byPlace(a: LinkFinding, b: LinkFinding): number {
  const place = ({ from, to }: LinkFinding): string => JSON.stringify([from.table.schema, from.table.table, from.columns, to.table.schema, to.table.table, to.columns]);
  return place(a) < place(b) ? -1 : 1;
}
