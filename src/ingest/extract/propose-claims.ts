import { bodySchemas, subjects, type ClaimKind } from '../../context/claims/claim.ts';
import { meaningKey } from '../../context/compile/meaning.ts';
import { slug } from '../../context/catalog/slug.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';
import { isSaid } from '../project-snapshot.ts';
import type { ProposalsSession, Saying } from './proposals-session.ts';
import { dryRun } from './dry-run.ts';
import { datasetNamed, exists, fieldNamed, refNamed, refusal } from './resolve-names.ts';
import type {
  datasetProposalSchema,
  fieldSchema,
  metricSchema,
  Proposal,
  relationshipSchema,
  ruleSchema,
  termSchema,
  unmappedSchema,
} from './proposal-schemas.ts';

/** Every one of these takes the proposal and says what was taken, or refuses it with what would do. */

export function proposeTerm(
  session: ProposalsSession,
  { title, definition, synonyms, refs = [], ...place }: Proposal<typeof termSchema>,
): string {
  const subject = subjects.term(title);
  return taken(session, place, [
    ...about(session, subject, { title, refs }),
    [subject, 'definition', definition],
    ...listed(session, subject, { synonyms }),
  ]);
}

export function proposeRule(
  session: ProposalsSession,
  { title, rule, refs = [], ...place }: Proposal<typeof ruleSchema>,
): string {
  const subject = subjects.rule(title);
  return taken(session, place, [
    ...about(session, subject, { title, refs }),
    [subject, 'rule', rule],
  ]);
}

/** Its title, where nobody has written it yet, and what it is about. */
function about(
  { snapshot }: ProposalsSession,
  subject: string,
  { title, refs }: { readonly title: string; readonly refs: readonly string[] },
): Saying[] {
  const found = [...new Set(refs.map((ref) => refNamed(snapshot, ref)))].sort();
  const titled: Saying[] = isSaid(snapshot, subject, 'title') ? [] : [[subject, 'title', title]];
  return [...titled, ...found.map((ref): Saying => [subject, 'refs', [ref]])];
}

export function proposeDataset(
  session: ProposalsSession,
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
  const owner = datasetNamed(session.snapshot, dataset);
  const subject = subjects.dataset(owner.connection, owner.dataset);
  const sayings = listed(session, subject, { description, synonyms, tags });
  if (key !== undefined)
    sayings.push([
      subject,
      'primary_key',
      key.map((name) => fieldNamed(session.snapshot, owner, name)),
    ]);
  if (time !== undefined)
    sayings.push(
      ...listed(session, subject, { default_time: fieldNamed(session.snapshot, owner, time) }),
    );
  return taken(session, place, sayings);
}

export async function proposeField(
  session: ProposalsSession,
  proposal: Proposal<typeof fieldSchema>,
): Promise<string> {
  const { dataset, field, expr, description, synonyms, values, ...place } = proposal;
  const owner = datasetNamed(session.snapshot, dataset);
  const { connection, dataset: own } = owner;
  if (expr === undefined) {
    const subject = subjects.field(connection, own, fieldNamed(session.snapshot, owner, field));
    return taken(session, place, listed(session, subject, { description, synonyms, values }));
  }
  requireName(field);
  const subject = subjects.field(connection, own, field);
  const isTaken =
    owner.fields.has(field.toLowerCase()) ||
    exists(session.snapshot, subject) ||
    exists(session.snapshot, subjects.metric(connection, own, field));
  if (isTaken)
    throw refusal(
      `${own} has something called ${field} already: describe it without expr, or choose another name.`,
    );
  session.requireQuote(place);
  await dryRun(
    session.snapshot,
    { connection, dataset: own, list: 'fields', entry: withKeys({ name: field, expr }) },
    session.signal,
  );
  return taken(session, place, [
    [subject, 'field', { expr }],
    ...listed(session, subject, { description, synonyms, values }),
  ]);
}

export async function proposeMetric(
  session: ProposalsSession,
  proposal: Proposal<typeof metricSchema>,
): Promise<string> {
  const { item, quote, dataset, name, unit, description, synonyms, ...definition } = proposal;
  const { connection, dataset: own, fields } = datasetNamed(session.snapshot, dataset);
  requireName(name);
  if (fields.has(name.toLowerCase()))
    throw refusal(`${own} has a field ${name}: give the metric another name, like total_${name}.`);
  const body = JSON.parse(canonicalJson(definition)) as Json;
  const { error } = bodySchemas.metric.safeParse(body);
  if (error !== undefined || canonicalJson(body) === '{}') {
    throw refusal('Say how it is computed: agg with of, or expr, or ratio, cumulative, offset.');
  }
  session.requireQuote({ item, quote });
  const subject = subjects.metric(connection, own, name);
  await dryRun(
    session.snapshot,
    { connection, dataset: own, list: 'metrics', entry: withKeys({ ...definition, name }) },
    session.signal,
  );
  const further: Saying[] = unit === undefined ? [] : [[subject, 'unit', unit]];
  return taken(session, { item, quote }, [
    [subject, 'metric', body],
    ...further,
    ...listed(session, subject, { description, synonyms }),
  ]);
}

export function proposeRelationship(
  session: ProposalsSession,
  proposal: Proposal<typeof relationshipSchema>,
): string {
  const { dataset, to, on, role, ...place } = proposal;
  const [from, target] = [dataset, to].map((name) => datasetNamed(session.snapshot, name));
  if (from === undefined || target === undefined) throw new Error('two names in, two datasets out');
  if (from.connection !== target.connection)
    throw refusal('Both datasets have to be of one warehouse.');
  if (role !== undefined) requireName(role);
  const pairs = on.map(
    (pair) =>
      [
        fieldNamed(session.snapshot, from, pair.field),
        fieldNamed(session.snapshot, target, pair.to_field),
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
  return taken(session, place, [[subject, 'relationship', body]]);
}

export function reportUnmapped(
  session: ProposalsSession,
  { name, ...report }: Proposal<typeof unmappedSchema>,
): string {
  const { reason } = report;
  if (reason === 'no_such_table' || reason === 'no_such_field') {
    if (name === undefined) throw refusal(`Say with \`name\` which one is missing.`);
    const found = session.snapshot.names.subject(name);
    if (found !== undefined) throw refusal(`${name} is there: it is ${found}.`);
  }
  session.reportUnmapped(
    name === undefined ? report : { ...report, what: `${report.what} (${name})` },
  );
  return 'Noted.';
}

type Listed = Partial<
  Readonly<Record<'description' | 'synonyms' | 'tags' | 'values' | 'default_time', Json>>
>;

/** Of these only one is shown: what a source, the warehouse or a person says already is not said again. */
function listed(
  { snapshot }: ProposalsSession,
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

/** Puts the claims on the session, and names those that others contradict. */
function taken(
  session: ProposalsSession,
  place: { readonly item: string; readonly quote: string },
  sayings: readonly Saying[],
): string {
  if (sayings.length === 0) throw refusal('This says nothing: give at least one thing to claim.');
  session.accept(place, sayings);
  const contested = sayings.flatMap(([subject, kind, body]) => {
    const others = session.snapshot
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
