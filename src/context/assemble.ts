import { canonicalJson, type Json } from '../lib/json.ts';
import type { Dataset } from '../semantic/dataset.ts';
import { bodies, claimId, type ClaimKind } from './claim.ts';
import type { Verdict } from './judge.ts';
import { keyOrder } from './leaves.ts';
import { grantNames, slug } from './slug.ts';
import type { SubjectParts } from './subject.ts';

/** A subject and the claims about it by kind. */
export interface Known {
  readonly about: SubjectParts;
  readonly verdicts: ReadonlyMap<ClaimKind, Verdict>;
}

/** One dataset as its claims have it: fields in the order of their columns, relationships in that of their first column. */
export function assembleDataset(own: Known, members: readonly Known[]): Dataset {
  const { catalog, schema, table } = bodies.dataset.parse(shown(own, 'dataset')).source;
  const primary = bodies.primary_key.safeParse(shown(own, 'primary_key')).data;
  const unique = (own.verdicts.get('unique_key')?.shown ?? []).map(({ body }) => bodies.unique_key.parse(body));
  const others = unique.filter((key) => canonicalJson(key) !== canonicalJson(primary));
  const ofType = (type: SubjectParts['type']) => members.filter(({ about }) => about.type === type);
  const inColumnOrder = ofType('field')
    .map(fieldOf)
    .sort((a, b) => a.position - b.position);
  const fields = inColumnOrder.map(({ field }) => field);
  const metrics = ofType('metric').map((metric) => {
    const definition = bodies.metric.parse(JSON.parse(canonicalJson(shown(metric, 'metric'))));
    return inOrder({ ...definition, name: metric.about.name, ...prose(metric) });
  });
  return inOrder({
    dataset: own.about.dataset,
    source: [...(catalog === undefined ? [] : [catalog]), schema, table].map(sourcePart).join('.'),
    primary_key: primary,
    unique_keys: others.sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1)),
    default_time: bodies.default_time.safeParse(shown(own, 'default_time')).data,
    ...prose(own),
    tags: bodies.tags.safeParse(shown(own, 'tags')).data,
    fields,
    metrics,
    relationships: relationshipsOf(ofType('relationship'), fields),
  });
}

function fieldOf(known: Known) {
  const { name } = known.about;
  const { column, position } = bodies.field.parse(shown(known, 'field'));
  const type = bodies.type.safeParse(shown(known, 'type')).data;
  const field = inOrder({
    name,
    expr: column === name ? undefined : quoted(column),
    type: type === 'unknown' ? undefined : type,
    values: bodies.values.safeParse(shown(known, 'values')).data,
    ...prose(known),
  });
  return { field, position };
}

function relationshipsOf(members: readonly Known[], fields: readonly { readonly name: string }[]) {
  const links = members.flatMap((known) => {
    const { columns } = known.about;
    return (known.verdicts.get('relationship')?.shown ?? []).map((claim) => {
      const { on, ...body } = bodies.relationship.parse(claim.body);
      const pairs = Object.entries(on).sort(([a], [b]) => columns.indexOf(a) - columns.indexOf(b));
      return { ...body, on: Object.fromEntries(pairs), id: claimId(claim), description: prose(known).description };
    });
  });
  const position = ({ on }: (typeof links)[number]) => fields.findIndex(({ name }) => name === Object.keys(on)[0]);
  links.sort((a, b) => position(a) - position(b));
  const namesakes = Map.groupBy(links, ({ to, role }) => role ?? to);
  const names = grantNames(
    links.map(({ id, to, on, role }) => {
      const isAlone = namesakes.get(role ?? to)?.length === 1;
      return { key: id, wish: role ?? (isAlone ? to : slug(Object.keys(on).join('_'))), exact: role !== undefined };
    }),
  );
  return links.map(({ id, to, on, cardinality, description }) => {
    const name = names.get(id);
    const narrowed = cardinality === 'one_to_one' ? cardinality : undefined;
    return inOrder({ to, on, role: name === to ? undefined : name, cardinality: narrowed, description });
  });
}

/** The body that counts. */
function shown({ verdicts }: Known, kind: ClaimKind): Json | undefined {
  return verdicts.get(kind)?.shown[0]?.body;
}

function prose(known: Known) {
  return {
    description: bodies.description.safeParse(shown(known, 'description')).data,
    synonyms: bodies.synonyms.safeParse(shown(known, 'synonyms')).data,
  };
}

function sourcePart(name: string): string {
  return /[."]/.test(name) ? quoted(name) : name;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** With its keys in the order in which files have them, and without those that have no value. */
function inOrder<T extends object>(value: T): T {
  const pairs = Object.entries(value).filter(([, one]) => one !== undefined && !(Array.isArray(one) && one.length === 0));
  return Object.fromEntries(pairs.sort(([a], [b]) => keyOrder.indexOf(a) - keyOrder.indexOf(b))) as T;
}
