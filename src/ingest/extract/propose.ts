import { bodySchemas, subjects, type ClaimKind } from '../../context/claims/claim.ts';
import { meaningKey } from '../../context/compile/meaning.ts';
import { slug } from '../../context/catalog/slug.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';
import { isSaid } from '../rule/snapshot.ts';
import type { ExtractDesk, Saying } from './proposals-session.ts';
import { dryRun } from './dry-run.ts';
import { datasetNamed, exists, fieldNamed, refNamed, refusal } from './naming.ts';
import type {
  datasetProposalSchema,
  fieldSchema,
  metricSchema,
  Proposal,
  relationshipSchema,
  ruleSchema,
  termSchema,
  unmappedSchema,
} from './proposals.ts';

/** Every one of these takes the proposal and says what was taken, or refuses it with what would do. */

export function proposeTerm(
  desk: ExtractDesk,
  { title, definition, synonyms, refs = [], ...place }: Proposal<typeof termSchema>,
): string {
  const subject = subjects.term(title);
  return taken(desk, place, [
    ...about(desk, subject, { title, refs }),
    [subject, 'definition', definition],
    ...listed(desk, subject, { synonyms }),
  ]);
}

export function proposeRule(
  desk: ExtractDesk,
  { title, rule, refs = [], ...place }: Proposal<typeof ruleSchema>,
): string {
  const subject = subjects.rule(title);
  return taken(desk, place, [...about(desk, subject, { title, refs }), [subject, 'rule', rule]]);
}

/** Its title, where nobody has written it yet, and what it is about. */
function about(
  { snapshot }: ExtractDesk,
  subject: string,
  { title, refs }: { readonly title: string; readonly refs: readonly string[] },
): Saying[] {
  const found = [...new Set(refs.map((ref) => refNamed(snapshot, ref)))].sort();
  const titled: Saying[] = isSaid(snapshot, subject, 'title') ? [] : [[subject, 'title', title]];
  return [...titled, ...found.map((ref): Saying => [subject, 'refs', [ref]])];
}

export function proposeDataset(
  desk: ExtractDesk,
  proposal: Proposal<typeof datasetProposalSchema>,
): string {
  const {
    dataset,
    description,
    synonyms,
    tags,
    primary_key: key,
    default_time: time,
    ...place
  } = proposal;
  const owner = datasetNamed(desk.snapshot, dataset);
  const subject = subjects.dataset(owner.connection, owner.dataset);
  const sayings = listed(desk, subject, { description, synonyms, tags });
  if (key !== undefined)
    sayings.push([
      subject,
      'primary_key',
      key.map((name) => fieldNamed(desk.snapshot, owner, name)),
    ]);
  if (time !== undefined)
    sayings.push(
      ...listed(desk, subject, { default_time: fieldNamed(desk.snapshot, owner, time) }),
    );
  return taken(desk, place, sayings);
}

export async function proposeField(
  desk: ExtractDesk,
  proposal: Proposal<typeof fieldSchema>,
): Promise<string> {
  const { dataset, field, expr, description, synonyms, values, ...place } = proposal;
  const owner = datasetNamed(desk.snapshot, dataset);
  const { connection, dataset: own } = owner;
  if (expr === undefined) {
    const subject = subjects.field(connection, own, fieldNamed(desk.snapshot, owner, field));
    return taken(desk, place, listed(desk, subject, { description, synonyms, values }));
  }
  requireName(field);
  const subject = subjects.field(connection, own, field);
  const isTaken =
    owner.fields.has(field.toLowerCase()) ||
    exists(desk.snapshot, subject) ||
    exists(desk.snapshot, subjects.metric(connection, own, field));
  if (isTaken)
    throw refusal(
      `${own} has something called ${field} already: describe it without expr, or choose another name.`,
    );
  desk.requireQuote(place);
  await dryRun(
    desk.snapshot,
    { connection, dataset: own, list: 'fields', entry: withKeys({ name: field, expr }) },
    desk.signal,
  );
  return taken(desk, place, [
    [subject, 'field', { expr }],
    ...listed(desk, subject, { description, synonyms, values }),
  ]);
}

export async function proposeMetric(
  desk: ExtractDesk,
  proposal: Proposal<typeof metricSchema>,
): Promise<string> {
  const { item, quote, dataset, name, unit, description, synonyms, ...definition } = proposal;
  const { connection, dataset: own, fields } = datasetNamed(desk.snapshot, dataset);
  requireName(name);
  if (fields.has(name.toLowerCase()))
    throw refusal(`${own} has a field ${name}: give the metric another name, like total_${name}.`);
  const body = JSON.parse(canonicalJson(definition)) as Json;
  const { error } = bodySchemas.metric.safeParse(body);
  if (error !== undefined || canonicalJson(body) === '{}') {
    throw refusal('Say how it is computed: agg with of, or expr, or ratio, cumulative, offset.');
  }
  desk.requireQuote({ item, quote });
  const subject = subjects.metric(connection, own, name);
  await dryRun(
    desk.snapshot,
    { connection, dataset: own, list: 'metrics', entry: withKeys({ ...definition, name }) },
    desk.signal,
  );
  const further: Saying[] = unit === undefined ? [] : [[subject, 'unit', unit]];
  return taken(desk, { item, quote }, [
    [subject, 'metric', body],
    ...further,
    ...listed(desk, subject, { description, synonyms }),
  ]);
}

export function proposeRelationship(
  desk: ExtractDesk,
  proposal: Proposal<typeof relationshipSchema>,
): string {
  const { dataset, to, on, role, ...place } = proposal;
  const [from, target] = [dataset, to].map((name) => datasetNamed(desk.snapshot, name));
  if (from === undefined || target === undefined) throw new Error('two names in, two datasets out');
  if (from.connection !== target.connection)
    throw refusal('Both datasets have to be of one warehouse.');
  if (role !== undefined) requireName(role);
  const pairs = on.map(
    (pair) =>
      [
        fieldNamed(desk.snapshot, from, pair.field),
        fieldNamed(desk.snapshot, target, pair.to_field),
      ] as const,
  );
  const subject = subjects.relationship(
    from.connection,
    from.dataset,
    pairs.map(([field]) => field),
  );
  const body = {
    to: target.dataset,
    on: Object.fromEntries(pairs),
    ...(role === undefined ? {} : { role }),
  };
  return taken(desk, place, [[subject, 'relationship', body]]);
}

export function reportUnmapped(
  desk: ExtractDesk,
  { name, ...report }: Proposal<typeof unmappedSchema>,
): string {
  const { reason } = report;
  if (reason === 'no_such_table' || reason === 'no_such_field') {
    if (name === undefined) throw refusal(`Say with \`name\` which one is missing.`);
    const found = desk.snapshot.names.subject(name);
    if (found !== undefined) throw refusal(`${name} is there: it is ${found}.`);
  }
  desk.reportUnmapped(
    name === undefined ? report : { ...report, what: `${report.what} (${name})` },
  );
  return 'Noted.';
}

type Listed = Partial<
  Readonly<Record<'description' | 'synonyms' | 'tags' | 'values' | 'default_time', Json>>
>;

/** Of these only one is shown: what a source, the warehouse or a person says already is not said again. */
function listed(
  { snapshot }: ExtractDesk,
  subject: string,
  given: { readonly [Key in keyof Listed]: Json | undefined },
): Saying[] {
  const sayings = Object.entries(given).flatMap(([kind, body]): Saying[] =>
    body === undefined ? [] : [[subject, kind as ClaimKind, body]],
  );
  const owned = sayings
    .filter(([, kind]) => isSaid(snapshot, subject, kind))
    .map(([, kind]) => kind);
  if (owned.length === 0) return sayings;
  throw refusal(
    `The ${owned.join(' and ')} of ${subject} is there already, from a source or a person: leave it out.`,
  );
}

/** Puts the claims on the desk, and names those that others contradict. */
function taken(
  desk: ExtractDesk,
  place: { readonly item: string; readonly quote: string },
  sayings: readonly Saying[],
): string {
  if (sayings.length === 0) throw refusal('This says nothing: give at least one thing to claim.');
  desk.accept(place, sayings);
  const contested = sayings.flatMap(([subject, kind, body]) => {
    const others = desk.snapshot
      .claims(subject)
      .filter((one) => one.kind === kind && kind !== 'refs' && kind !== 'title');
    return others.some((one) => meaningKey(one) !== meaningKey({ kind, body }))
      ? [`${kind} of ${subject}`]
      : [];
  });
  const kept = [...new Set(sayings.map(([subject]) => subject))].join(', ');
  if (contested.length === 0) return `Taken: ${kept}.`;
  return `Taken: ${kept}. Another source says something else about the ${contested.join(', ')}; both are kept, a person decides.`;
}

function requireName(name: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name)) return;
  const plain = slug(name);
  throw refusal(
    `${name} is no name: letters, digits and _ only, like ${/^[0-9]/.test(plain) ? `_${plain}` : plain}.`,
  );
}

/** Without the keys that are not given. */
function withKeys<Entry extends { readonly name: string }>(entry: Entry): Entry {
  return JSON.parse(JSON.stringify(entry)) as Entry;
}
