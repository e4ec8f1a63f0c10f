import { canonicalJson, type Json } from '../lib/json.ts';
import { type Dataset, datasetSchema } from '../semantic/dataset.ts';
import { bodies, claimId, subjects, type Claim, type ClaimKind } from './claim.ts';
import { originRank } from './conflicts.ts';
import { keyOrder } from './leaves.ts';
import { grantNames, slug } from './slug.ts';
import type { Owner, SubjectParts } from './subject.ts';

/** A claim with the parts of its subject. */
export interface Read {
  readonly claim: Claim;
  readonly about: SubjectParts;
}

/** Claims by `factKey`; what is shown comes first. */
type Facts = ReadonlyMap<string, readonly Claim[]>;

export function factKey(subject: string, kind: ClaimKind): string {
  return `${kind} ${subject}`;
}

/** One dataset as its facts have it: fields in the order of their columns, relationships in that of their first column. */
export function assembleDataset(group: readonly Read[], facts: Facts, { connection, dataset }: Owner): Dataset {
  const subject = subjects.dataset(connection, dataset);
  const { catalog, schema, table } = bodies.dataset.parse(shown(facts, subject, 'dataset')).source;
  const primary = shown(facts, subject, 'primary_key');
  const unique = (facts.get(factKey(subject, 'unique_key')) ?? []).map(({ body }) => body);
  const fields = members(group, 'field').map(({ claim, about }) => fieldOf(claim.subject, about.name, facts));
  fields.sort((a, b) => a.position - b.position || (a.field.name < b.field.name ? -1 : 1));
  const metrics = members(group, 'metric').map(({ claim, about }) => {
    const definition = bodies.metric.parse(JSON.parse(canonicalJson(shown(facts, claim.subject, 'metric'))));
    return { ...definition, name: about.name, ...prose(facts, claim.subject) };
  });
  const {
    fields: _fields,
    metrics: typed,
    relationships: _relationships,
    ...rest
  } = datasetSchema.parse({
    dataset,
    source: [...(catalog === undefined ? [] : [catalog]), schema, table].map(sourcePart).join('.'),
    primary_key: primary,
    unique_keys: listed(unique.filter((key) => canonicalJson(key) !== canonicalJson(primary)).sort(byJson)),
    default_time: shown(facts, subject, 'default_time'),
    tags: shown(facts, subject, 'tags'),
    metrics: listed(metrics),
    ...prose(facts, subject),
  });
  const links = relationshipsOf(group, fields.map(({ field }) => field.name), facts); // prettier-ignore
  return inOrder({
    ...rest,
    fields: listed(fields.map(({ field }) => inOrder(field))),
    metrics: typed?.map(inOrder),
    relationships: listed(links.map(inOrder)),
  });
}

function fieldOf(subject: string, name: string, facts: Facts) {
  const { column, position, expr } = bodies.field.parse(shown(facts, subject, 'field'));
  const type = bodies.type.safeParse(shown(facts, subject, 'type')).data;
  const field = {
    name,
    expr: expr ?? (column === name ? undefined : quoted(column)),
    type: type === 'unknown' ? undefined : type,
    values: bodies.values.safeParse(shown(facts, subject, 'values')).data,
    ...prose(facts, subject),
  };
  return { field, position };
}

function relationshipsOf(group: readonly Read[], fields: readonly string[], facts: Facts) {
  const links = members(group, 'relationship').flatMap(({ claim: { subject } }) => {
    const ranked = facts.get(factKey(subject, 'relationship')) ?? [];
    const declared = ranked.filter((claim) => originRank(claim) === 1);
    const isDeclared = ranked[0] !== undefined && originRank(ranked[0]) === 1;
    const counted = isDeclared ? declared : ranked.slice(0, 1);
    return counted.map((claim) => {
      const body = bodies.relationship.parse(claim.body);
      const pairs = Object.entries(body.on).sort(([a], [b]) => fields.indexOf(a) - fields.indexOf(b));
      return { ...body, on: Object.fromEntries(pairs), subject, id: claimId(claim) };
    });
  });
  const position = ({ on }: (typeof links)[number]) => fields.indexOf(Object.keys(on)[0] ?? '');
  links.sort((a, b) => position(a) - position(b) || (a.id < b.id ? -1 : 1));
  const namesakes = Map.groupBy(links, ({ to, role }) => role ?? to);
  const names = grantNames(
    links.map(({ id, to, on, role }) => {
      const isAlone = namesakes.get(role ?? to)?.length === 1;
      return { key: id, wish: role ?? (isAlone ? to : slug(Object.keys(on).join('_'))), exact: role !== undefined };
    }),
  );
  return links.map(({ id, subject, to, on, cardinality }) => {
    const name = names.get(id);
    const role = name === to ? undefined : name;
    const narrowed = cardinality === 'one_to_one' ? cardinality : undefined;
    return { to, on, role, cardinality: narrowed, description: prose(facts, subject).description };
  });
}

/** One claim for each subject of a type, by name. */
function members(group: readonly Read[], type: 'field' | 'metric' | 'relationship'): Read[] {
  const own = group.filter(({ claim }) => claim.kind === type);
  return [...new Map(own.map((one) => [one.claim.subject, one])).values()].sort((a, b) => (a.claim.subject < b.claim.subject ? -1 : 1));
}

function shown(facts: Facts, subject: string, kind: ClaimKind): Json | undefined {
  return facts.get(factKey(subject, kind))?.[0]?.body;
}

function prose(facts: Facts, subject: string) {
  return {
    description: bodies.description.safeParse(shown(facts, subject, 'description')).data,
    synonyms: bodies.synonyms.safeParse(shown(facts, subject, 'synonyms')).data,
  };
}

function sourcePart(name: string): string {
  return /[."]/.test(name) ? quoted(name) : name;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function listed<T>(items: readonly T[]): T[] | undefined {
  return items.length > 0 ? [...items] : undefined;
}

/** With its keys in the order in which files have them, and without those that have no value. */
function inOrder<T extends object>(value: T): T {
  const pairs = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(pairs.sort(([a], [b]) => keyOrder.indexOf(a) - keyOrder.indexOf(b))) as T;
}

function byJson(a: Json, b: Json): number {
  return canonicalJson(a) < canonicalJson(b) ? -1 : 1;
}
