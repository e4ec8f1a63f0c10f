import { canonicalJson, type Json } from '../../lib/json.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import {
  bodySchemas,
  claimId,
  type ClaimBodies,
  type Claim,
  type ClaimKind,
} from '../claims/claim.ts';
import type { RankedClaims } from './claim-precedence.ts';
import { keyOrder } from '../merge/yaml-values.ts';
import { meaningKey } from './meaning.ts';
import { assignUniqueNames, slug } from '../catalog/slug.ts';
import type { SubjectParts } from '../claims/subject.ts';

/** A subject and the claims about it by kind. */
export interface SubjectClaims {
  readonly about: SubjectParts;
  readonly verdicts: ReadonlyMap<ClaimKind, RankedClaims>;
}

/** One dataset as its claims have it: fields in the order of their columns and then of their names, relationships in that of their first column. */
export function assembleDataset(own: SubjectClaims, members: readonly SubjectClaims[]): Dataset {
  const {
    dataset: physical,
    primary_key,
    default_time,
    description,
    synonyms,
    tags,
  } = bodiesOf(own);
  const { catalog, schema, table } = bodySchemas.dataset.parse(physical).source;
  const unique = own.verdicts
    .get('unique_key')
    ?.shown.map(({ body }) => bodySchemas.unique_key.parse(body));
  const {
    field = [],
    metric = [],
    relationship = [],
  } = Object.groupBy(members, ({ about }) => about.type);
  const fields = field
    .map(fieldOf)
    .sort((a, b) => a.position - b.position || (a.value.name < b.value.name ? -1 : 1));
  return inOrder({
    dataset: own.about.dataset,
    source: [...(catalog === undefined ? [] : [catalog]), schema, table]
      .map((part) => (/[."]/.test(part) ? quoted(part) : part))
      .join('.'),
    primary_key,
    unique_keys: unique
      ?.filter((key) => canonicalJson(key) !== canonicalJson(primary_key))
      .sort(byText),
    default_time,
    description,
    synonyms,
    tags,
    fields: fields.map(({ value }) => value),
    metrics: metric.map(metricOf),
    relationships: relationshipsOf(
      relationship,
      fields.map(({ value }) => value.name),
    ),
  });
}

function fieldOf(known: SubjectClaims) {
  const { field, type, values, description, synonyms } = bodiesOf(known);
  const { name } = known.about;
  const physical = bodySchemas.field.parse(field);
  const isColumn = 'column' in physical;
  const own =
    isColumn && physical.column === name
      ? undefined
      : isColumn
        ? quoted(physical.column)
        : physical.expr;
  // Expressions follow the columns.
  return {
    position: isColumn ? physical.position : Infinity,
    value: inOrder({
      name,
      expr: own,
      type: type === 'unknown' ? undefined : type,
      values,
      description,
      synonyms,
    }),
  };
}

function metricOf(known: SubjectClaims) {
  const { metric, synonyms } = bodiesOf(known);
  const [description, unit] = (['description', 'unit'] as const).map((kind) => beside(known, kind));
  const definition = bodySchemas.metric.parse(JSON.parse(canonicalJson(metric)));
  const said = Object.entries({ unit, description, synonyms }).filter(
    ([, value]) => value !== undefined,
  );
  return inOrder({ ...definition, ...Object.fromEntries(said), name: known.about.name });
}

/** What is said where the definition is that counts, if something is: words must not tell of another definition. A person's count anyway. */
function beside({ verdicts }: SubjectClaims, kind: 'description' | 'unit'): Json | undefined {
  const places = ({ evidence }: Claim) =>
    evidence.map(({ item, location }) => `${item} ${location}`);
  const defined = new Set(verdicts.get('metric')?.shown.flatMap(places));
  const ranked = verdicts.get(kind)?.ranked ?? [];
  const isPersons = ranked[0]?.evidence.some(({ origin }) => origin === 'person') === true;
  const near = isPersons
    ? undefined
    : ranked.find((claim) => places(claim).some((place) => defined.has(place)));
  return (near ?? ranked[0])?.body;
}

function relationshipsOf(members: readonly SubjectClaims[], fields: readonly string[]) {
  const links = members.flatMap((known) => {
    const { columns } = known.about;
    const { shown = [], ranked = [] } = known.verdicts.get('relationship') ?? {};
    return shown.map((claim) => {
      const { on, ...body } = completed(claim, ranked);
      const pairs = Object.entries(on).sort(([a], [b]) => columns.indexOf(a) - columns.indexOf(b));
      return {
        ...body,
        on: Object.fromEntries(pairs),
        id: claimId(claim),
        description: bodiesOf(known).description,
      };
    });
  });
  const position = ({ on }: (typeof links)[number]) => fields.indexOf(Object.keys(on)[0] ?? '');
  links.sort((a, b) => position(a) - position(b));
  const namesakes = Map.groupBy(links, ({ to, role }) => role ?? to);
  const names = assignUniqueNames(
    links.map(({ id, to, on, role }) => {
      const isAlone = namesakes.get(role ?? to)?.length === 1;
      return {
        key: id,
        wish: role ?? (isAlone ? to : slug(Object.keys(on).join('_'))),
        exact: role !== undefined,
      };
    }),
  );
  return links.map(({ id, to, on, cardinality, description }) => {
    const name = names.get(id);
    const narrowed = cardinality === 'one_to_one' ? cardinality : undefined;
    return inOrder({
      to,
      on,
      role: name === to ? undefined : name,
      cardinality: narrowed,
      description,
    });
  });
}

/** A link with the role and the cardinality that others of the same meaning know. */
function completed(claim: Claim, ranked: readonly Claim[]): ClaimBodies['relationship'] {
  const same = ranked.filter((other) => other !== claim && meaningKey(other) === meaningKey(claim));
  const links = same.flatMap(({ body }) => bodySchemas.relationship.safeParse(body).data ?? []);
  const [role, cardinality] = (['role', 'cardinality'] as const).map(
    (key) => links.find((link) => link[key] !== undefined)?.[key],
  );
  const own = bodySchemas.relationship.parse(claim.body);
  return {
    ...own,
    ...bodySchemas.relationship
      .partial()
      .parse({ role: own.role ?? role, cardinality: own.cardinality ?? cardinality }),
  };
}

/** Of each kind the body that counts; each is of its kind, or compiling would have set its claim aside. */
function bodiesOf({ verdicts }: SubjectClaims): Partial<ClaimBodies> {
  return Object.fromEntries(
    [...verdicts].map(([kind, { shown }]) => [kind, shown[0]?.body]),
  ) as Partial<ClaimBodies>;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function byText(a: Json, b: Json): number {
  return canonicalJson(a) < canonicalJson(b) ? -1 : 1;
}

/** With its keys in the order in which files have them, and without those that have no value. */
function inOrder<T extends object>(value: T): T {
  const pairs = Object.entries(value).filter(
    ([, one]) => one !== undefined && !(Array.isArray(one) && one.length === 0),
  );
  return Object.fromEntries(
    pairs.sort(([a], [b]) => keyOrder.indexOf(a) - keyOrder.indexOf(b)),
  ) as T;
}
