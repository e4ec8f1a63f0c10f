import { canonicalJson, type Json } from '../../lib/json.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import { stepOfTable, thingOf } from '../../sql/names/table-layer.ts';
import { assignUniqueNames, slug } from '../catalog/slug.ts';
import {
  bodySchemas,
  claimId,
  isProposal,
  isUnreviewed,
  type Claim,
  type ClaimBodies,
  type ClaimKind,
} from '../claims/claim.ts';
import type { SubjectParts } from '../claims/subject.ts';
import { keyOrder } from '../merge/yaml-values.ts';
import type { RankedClaims } from './claim-precedence.ts';
import { meaningKey } from './meaning.ts';

/** A subject and the claims about it. */
export interface SubjectClaims {
  readonly subject: SubjectParts;
  readonly byKind: ReadonlyMap<ClaimKind, RankedClaims>;
}

/**
 * Assembles a dataset from the claims about it and about its members. Fields come in the order of
 * their columns and then by name, relationships in the order of their first column.
 */
export function assembleDataset(own: SubjectClaims, members: readonly SubjectClaims[]): Dataset {
  const bodies = shownBodies(own);
  const { primary_key, default_time, time_spine, layer, owner } = bodies;
  const { description, synonyms, tags } = bodies;
  const rows = bodySchemas.dataset.parse(bodies.dataset);
  const uniqueKeys = own.byKind
    .get('unique_key')
    ?.shown.map(({ body }) => bodySchemas.unique_key.parse(body));
  const constraints = own.byKind
    .get('constraint')
    ?.shown.map(({ body }) => bodySchemas.constraint.parse(body));
  const {
    field = [],
    metric = [],
    relationship = [],
  } = Object.groupBy(members, ({ subject }) => subject.type);
  const fields = field
    .map(assembleField)
    .sort((a, b) => a.position - b.position || (a.value.name < b.value.name ? -1 : 1))
    .map(({ value }) => value);
  return sortKeys({
    dataset: own.subject.dataset,
    ...('sql' in rows ? { sql: rows.sql } : { source: sourceName(rows.source) }),
    primary_key,
    unique_keys: uniqueKeys
      ?.filter((key) => canonicalJson(key) !== canonicalJson(primary_key))
      .sort(compareJson),
    unreviewed: unreviewedKeys(own),
    default_time,
    time_spine,
    layer,
    owner,
    description,
    synonyms,
    tags,
    constraints: constraints?.toSorted(),
    fields,
    metrics: metric.map(assembleMetric),
    relationships: assembleRelationships(
      relationship,
      fields.map(({ name }) => name),
    ),
  });
}

/** The keys of the dataset that only names suggest and that nobody has accepted. */
function unreviewedKeys({ byKind }: SubjectClaims): Dataset['unreviewed'] {
  const { shown: [time] = [], chosen } = byKind.get('default_time') ?? {};
  return time && isProposal(time) && time !== chosen ? ['default_time'] : undefined;
}

type SourceTable = Extract<ClaimBodies['dataset'], { readonly source: unknown }>['source'];

/** `catalog.schema.table`; a part with a dot or a quote is quoted. */
function sourceName({ catalog, schema, table }: SourceTable): string {
  return [...(catalog === undefined ? [] : [catalog]), schema, table]
    .map((part) => (/[."]/.test(part) ? quoteIdentifier(part) : part))
    .join('.');
}

function assembleField(claims: SubjectClaims) {
  const { field, type, values, description, synonyms } = shownBodies(claims);
  const { name } = claims.subject;
  const physical = bodySchemas.field.parse(field);
  const value = (expr: string | undefined) =>
    sortKeys({
      name,
      expr,
      type: type === 'unknown' ? undefined : type,
      values,
      description,
      synonyms,
    });
  // Expressions follow the columns.
  if (!('column' in physical)) return { position: Infinity, value: value(physical.expr) };
  const { column, position } = physical;
  return { position, value: value(column === name ? undefined : quoteIdentifier(column)) };
}

function assembleMetric(claims: SubjectClaims) {
  const { metric, owner, synonyms } = shownBodies(claims);
  const definition = bodySchemas.metric.parse(JSON.parse(canonicalJson(metric)));
  const documentation = {
    unit: documentationBody(claims, 'unit'),
    owner,
    description: documentationBody(claims, 'description'),
    synonyms,
  };
  const present = Object.entries(documentation).filter(([, value]) => value !== undefined);
  const { shown = [], chosen } = claims.byKind.get('metric') ?? {};
  const [first] = shown;
  const mark =
    first && isUnreviewed(first) && first !== chosen ? { unreviewed: true as const } : {};
  return sortKeys({
    ...definition,
    ...Object.fromEntries(present),
    ...mark,
    name: claims.subject.name,
  });
}

/**
 * A metric's description or unit: a person's if there is one, otherwise from the place whose
 * definition is shown (another source may describe another definition), otherwise the one with
 * precedence.
 */
function documentationBody(
  { byKind }: SubjectClaims,
  kind: 'description' | 'unit',
): Json | undefined {
  const placesOf = ({ evidence }: Claim) =>
    evidence.map(({ item, location }) => `${item} ${location}`);
  const definitionPlaces = new Set(byKind.get('metric')?.shown.flatMap(placesOf));
  const ranked = byKind.get(kind)?.ranked ?? [];
  const isPersons = ranked[0]?.evidence.some(({ origin }) => origin === 'person') === true;
  const besideDefinition = isPersons
    ? undefined
    : ranked.find((claim) => placesOf(claim).some((place) => definitionPlaces.has(place)));
  return (besideDefinition ?? ranked[0])?.body;
}

function assembleRelationships(members: readonly SubjectClaims[], fields: readonly string[]) {
  const links = members.flatMap((claims) => {
    const { columns } = claims.subject;
    const { shown = [], ranked = [] } = claims.byKind.get('relationship') ?? {};
    const { description } = shownBodies(claims);
    return shown.map((claim) => {
      const { on, ...body } = completeLink(claim, ranked);
      const pairs = Object.entries(on).sort(([a], [b]) => columns.indexOf(a) - columns.indexOf(b));
      return { ...body, on: Object.fromEntries(pairs), id: claimId(claim), description };
    });
  });
  const position = ({ on }: (typeof links)[number]) => fields.indexOf(Object.keys(on)[0] ?? '');
  links.sort((a, b) => position(a) - position(b));
  // Without a role a link is named after its target; several links to one target, or to copies of
  // one thing in several layers, after their columns.
  const names = assignUniqueNames(
    links.map((link) => {
      const { id, to, on, role } = link;
      const isOnlyOne = links.every((rival) => rival === link || !wouldShareName(link, rival));
      const wish = role ?? (isOnlyOne ? to : slug(Object.keys(on).join('_')));
      return { key: id, wish, exact: role !== undefined };
    }),
  );
  return links.map(({ id, to, on, cardinality, description }) => {
    const name = names.get(id);
    return sortKeys({
      to,
      on,
      role: name === to ? undefined : name,
      cardinality: cardinality === 'one_to_one' ? cardinality : undefined,
      description,
    });
  });
}

type NamedLink = Pick<ClaimBodies['relationship'], 'to' | 'on' | 'role'>;

function wouldShareName(link: NamedLink, other: NamedLink): boolean {
  if ((link.role ?? link.to) === (other.role ?? other.to)) return true;
  const columnsOf = ({ on }: NamedLink) => Object.keys(on).join();
  const isNamed = link.role !== undefined || other.role !== undefined;
  const isOtherStep = stepOfTable([link.to]) !== stepOfTable([other.to]);
  const isCopy = isOtherStep && thingOf(link.to) === thingOf(other.to);
  return !isNamed && isCopy && columnsOf(link) !== columnsOf(other);
}

/** The link, with the role and the cardinality filled in from claims of the same meaning. */
function completeLink(claim: Claim, ranked: readonly Claim[]): ClaimBodies['relationship'] {
  const meaning = meaningKey(claim);
  const equalLinks = ranked
    .filter((candidate) => candidate !== claim && meaningKey(candidate) === meaning)
    .flatMap(({ body }) => bodySchemas.relationship.safeParse(body).data ?? []);
  const link = bodySchemas.relationship.parse(claim.body);
  const [role] = [link, ...equalLinks].flatMap((equal) => equal.role ?? []);
  const [cardinality] = [link, ...equalLinks].flatMap((equal) => equal.cardinality ?? []);
  return { ...link, role, cardinality };
}

/**
 * The body that is shown of each kind. It fits its kind: compiling quarantines a claim whose body
 * does not.
 */
function shownBodies({ byKind }: SubjectClaims): Partial<ClaimBodies> {
  return Object.fromEntries(
    [...byKind].map(([kind, { shown }]) => [kind, shown[0]?.body]),
  ) as Partial<ClaimBodies>;
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function compareJson(a: Json, b: Json): number {
  return canonicalJson(a) < canonicalJson(b) ? -1 : 1;
}

/**
 * The value with its keys in the order of the files, without those that are undefined or an empty
 * list.
 */
function sortKeys<T extends object>(value: T): T {
  const pairs = Object.entries(value).filter(
    ([, member]) => member !== undefined && !(Array.isArray(member) && member.length === 0),
  );
  return Object.fromEntries(
    pairs.sort(([a], [b]) => keyOrder.indexOf(a) - keyOrder.indexOf(b)),
  ) as T;
}
