import { slug } from '../../../context/catalog/slug.ts';
import { bodySchemas, subjects, type ClaimKind } from '../../../context/claims/claim.ts';
import type { NamedDataset } from '../../../context/claims/name-index.ts';
import { meaningKey } from '../../../context/compile/meaning.ts';
import { canonicalJson, type Json } from '../../../lib/json.ts';
import { hasNonModelClaim } from '../../project-snapshot.ts';
import { dryRun } from './dry-run.ts';
import { measureJoin, measureKey } from './measure-rows.ts';
import type {
  ProposalOf,
  proposedDatasetSchema,
  proposedFieldSchema,
  proposedMetricSchema,
  proposedRelationshipSchema,
  proposedRuleSchema,
  proposedTermSchema,
  reportedUnmappedSchema,
} from './proposal-schemas.ts';
import { requireSupport } from './support.ts';
import type { ProposalsSession, ProposedClaim, QuotedItem } from './proposals-session.ts';
import {
  isClaimed,
  refusal,
  resolveDataset,
  resolveField,
  resolveSubject,
} from './resolve-names.ts';

// Each of these functions checks a proposal and adds its claims to the session. The text that it
// returns is the answer to the model. It throws a refusal, which says what would be valid.

export function proposeTerm(
  session: ProposalsSession,
  { title, definition, synonyms, refs = [], ...place }: ProposalOf<typeof proposedTermSchema>,
): string {
  const subject = subjects.term(title);
  const claims: readonly ProposedClaim[] = [
    ...titleAndRefs(session, subject, { title, refs }),
    [subject, 'definition', definition],
    ...ownClaims(session, subject, { synonyms }),
  ];
  const context = quotedContext(session, place);
  requireSupport({
    ...context,
    names: [title],
    texts: [title, definition],
    words: synonyms ?? [],
  });
  return acceptClaims(session, place, claims);
}

export function proposeRule(
  session: ProposalsSession,
  { title, rule, refs = [], ...place }: ProposalOf<typeof proposedRuleSchema>,
): string {
  const subject = subjects.rule(title);
  const claims: readonly ProposedClaim[] = [
    ...titleAndRefs(session, subject, { title, refs }),
    [subject, 'rule', rule],
  ];
  const context = quotedContext(session, place);
  requireSupport({ ...context, names: [title], texts: [title, rule] });
  return acceptClaims(session, place, claims);
}

/** The title, unless a source or a person has given one, and the subjects that it is about. */
function titleAndRefs(
  { snapshot }: ProposalsSession,
  subject: string,
  { title, refs }: { readonly title: string; readonly refs: readonly string[] },
): ProposedClaim[] {
  const referenced = [...new Set(refs.map((ref) => resolveSubject(snapshot, ref)))].sort();
  const refClaims = referenced.map((ref): ProposedClaim => [subject, 'refs', [ref]]);
  const hasTitle = hasNonModelClaim(snapshot, subject, 'title');
  return hasTitle ? refClaims : [[subject, 'title', title], ...refClaims];
}

export async function proposeDataset(
  session: ProposalsSession,
  proposal: ProposalOf<typeof proposedDatasetSchema>,
): Promise<string> {
  const { snapshot } = session;
  const { dataset, description, synonyms, tags, primary_key, default_time, ...place } = proposal;
  const owner = resolveDataset(snapshot, dataset);
  const subject = subjects.dataset(owner.connection, owner.dataset);
  const claims = ownClaims(session, subject, { description, synonyms, tags });
  if (primary_key !== undefined) {
    const fields = primary_key.map((name) => resolveField(snapshot, owner, name));
    claims.push([subject, 'primary_key', fields]);
  }
  if (default_time !== undefined) {
    const time = resolveField(snapshot, owner, default_time);
    claims.push(...ownClaims(session, subject, { default_time: time }));
  }
  const context = quotedContext(session, place);
  requireSupport({
    ...context,
    names: [dataset, ...(primary_key ?? [])],
    texts: [description ?? ''],
    words: [...(synonyms ?? []), ...(tags ?? [])],
  });
  if (primary_key !== undefined)
    await measureKey(
      snapshot,
      { owner, fields: primary_key.map((name) => resolveField(snapshot, owner, name)) },
      session.signal,
    );
  return acceptClaims(session, place, claims);
}

/** Without `expr` the field has to exist; with it, the field is new. */
export async function proposeField(
  session: ProposalsSession,
  proposal: ProposalOf<typeof proposedFieldSchema>,
): Promise<string> {
  const { snapshot } = session;
  const { dataset, field, expr, description, synonyms, values, ...place } = proposal;
  const owner = resolveDataset(snapshot, dataset);
  const { connection } = owner;
  const requireWords = () =>
    requireSupport({
      ...quotedContext(session, place),
      names: [field],
      texts: [description ?? ''],
      words: [...(synonyms ?? []), ...(values ?? [])],
      formulas: expr === undefined ? [] : [expr],
      owner,
      otherWords: wordsForField(session, owner),
    });
  if (expr === undefined) {
    const known = resolveField(snapshot, owner, field);
    const subject = subjects.field(connection, owner.dataset, known);
    const claims = ownClaims(session, subject, { description, synonyms, values });
    requireWords();
    return acceptClaims(session, place, claims);
  }
  requireName(field);
  const subject = subjects.field(connection, owner.dataset, field);
  const isUsed =
    owner.fields.has(field.toLowerCase()) ||
    isClaimed(snapshot, subject) ||
    isClaimed(snapshot, subjects.metric(connection, owner.dataset, field));
  if (isUsed)
    throw refusal(
      `${owner.dataset} has something called ${field} already: describe it without expr, or choose another name.`,
    );
  session.requireQuote(place);
  const entry = { name: field, expr };
  await dryRun(
    snapshot,
    { connection, dataset: owner.dataset, list: 'fields', entry },
    session.signal,
  );
  requireWords();
  return acceptClaims(session, place, [
    [subject, 'field', { expr }],
    ...ownClaims(session, subject, { description, synonyms, values }),
  ]);
}

export async function proposeMetric(
  session: ProposalsSession,
  proposal: ProposalOf<typeof proposedMetricSchema>,
): Promise<string> {
  const { item, quote, dataset, name, unit, description, synonyms, ...definition } = proposal;
  const owner = resolveDataset(session.snapshot, dataset);
  requireName(name);
  if (owner.fields.has(name.toLowerCase()))
    throw refusal(
      `${owner.dataset} has a field ${name}: give the metric another name, like total_${name}.`,
    );
  const body = JSON.parse(canonicalJson(definition)) as { readonly [key: string]: Json };
  const isComputable = bodySchemas.metric.safeParse(body).success && Object.keys(body).length > 0;
  if (!isComputable)
    throw refusal('Say how it is computed: agg with of, or expr, or ratio, cumulative, offset.');
  session.requireQuote({ item, quote });
  const subject = subjects.metric(owner.connection, owner.dataset, name);
  const entry = { ...(JSON.parse(JSON.stringify(definition)) as object), name };
  await dryRun(
    session.snapshot,
    { connection: owner.connection, dataset: owner.dataset, list: 'metrics', entry },
    session.signal,
  );
  requireSupport({
    ...quotedContext(session, { item, quote }),
    names: [name],
    texts: [description ?? ''],
    words: synonyms ?? [],
    agg: definition.agg,
    unit,
    formulas: [definition.of, definition.expr, definition.where].filter(isText),
    owner,
    otherWords: wordsForField(session, owner),
  });
  const unitClaims: ProposedClaim[] = unit === undefined ? [] : [[subject, 'unit', unit]];
  return acceptClaims(session, { item, quote }, [
    [subject, 'metric', body],
    ...unitClaims,
    ...ownClaims(session, subject, { description, synonyms }),
  ]);
}

/** A join has to hold in the rows: words alone prove none. */
export async function proposeRelationship(
  session: ProposalsSession,
  proposal: ProposalOf<typeof proposedRelationshipSchema>,
): Promise<string> {
  const { snapshot } = session;
  const { dataset, to, on, role, ...place } = proposal;
  const from = resolveDataset(snapshot, dataset);
  const target = resolveDataset(snapshot, to);
  if (from.connection !== target.connection)
    throw refusal('Both datasets have to be in one warehouse.');
  if (role !== undefined) requireName(role);
  const pairs = on.map(
    ({ field, to_field: targetField }) =>
      [resolveField(snapshot, from, field), resolveField(snapshot, target, targetField)] as const,
  );
  session.requireQuote(place);
  if (from.dataset === target.dataset && pairs.every(([own, other]) => own === other))
    throw refusal(`Each row of ${from.dataset} would only find itself.`);
  await measureJoin(snapshot, { from, to: target, pairs }, session.signal);
  const fields = pairs.map(([field]) => field);
  requireSupport({ ...quotedContext(session, place), names: [dataset, to, ...fields] });
  const subject = subjects.relationship(from.connection, from.dataset, fields);
  const body = {
    to: target.dataset,
    on: Object.fromEntries(pairs),
    ...(role === undefined ? {} : { role }),
  };
  return acceptClaims(session, place, [[subject, 'relationship', body]]);
}

export function reportUnmapped(
  session: ProposalsSession,
  { name, ...report }: ProposalOf<typeof reportedUnmappedSchema>,
): string {
  const isMissing = report.reason === 'no_such_table' || report.reason === 'no_such_field';
  if (isMissing && name === undefined)
    throw refusal('Say with `name` which table or field is missing.');
  const subject = name === undefined ? undefined : session.snapshot.names.subject(name);
  if (isMissing && subject !== undefined) throw refusal(`${name} exists: it is ${subject}.`);
  const what = name === undefined ? report.what : `${report.what} (${name})`;
  session.reportUnmapped({ ...report, what });
  return 'Noted.';
}

/** The quote and the words around it. Refuses a quote that the item does not have. */
function quotedContext(session: ProposalsSession, place: QuotedItem) {
  session.requireQuote(place);
  return { quote: place.quote, context: session.contextOf(place) };
}

/** Other words for a field: what people and sources call it. A model's words prove nothing. */
function wordsForField(
  { snapshot }: ProposalsSession,
  { connection, dataset }: NamedDataset,
): (field: string) => readonly string[] {
  return (field) =>
    snapshot
      .claims(subjects.field(connection, dataset, field))
      .filter(({ kind }) => kind === 'description' || kind === 'synonyms')
      .filter(({ evidence }) => evidence.some(({ origin }) => origin !== 'model'))
      .map(({ body }) => canonicalJson(body));
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Kinds of which readers see a single claim. */
type SingleKind = 'description' | 'synonyms' | 'tags' | 'values' | 'default_time';

/**
 * Claims of the given bodies. Refuses a kind that a source, the warehouse or a person claims for
 * the subject already.
 */
function ownClaims(
  { snapshot }: ProposalsSession,
  subject: string,
  bodies: { readonly [Kind in SingleKind]?: Json | undefined },
): ProposedClaim[] {
  const claims = Object.entries(bodies).flatMap(([kind, body]): ProposedClaim[] =>
    body === undefined ? [] : [[subject, kind as ClaimKind, body]],
  );
  const known = claims
    .map(([, kind]) => kind)
    .filter((kind) => hasNonModelClaim(snapshot, subject, kind));
  if (known.length === 0) return claims;
  throw refusal(
    `The ${known.join(' and ')} of ${subject} is there already, from a source or a person: leave it out.`,
  );
}

/** Adds the claims to the session. The answer names the claims that contradict others. */
function acceptClaims(
  session: ProposalsSession,
  place: QuotedItem,
  claims: readonly ProposedClaim[],
): string {
  if (claims.length === 0) throw refusal('This says nothing: give at least one thing to claim.');
  session.accept(place, claims);
  const subjectList = [...new Set(claims.map(([subject]) => subject))].join(', ');
  const contradicting = claims.filter((claim) => contradictsKnown(session, claim));
  if (contradicting.length === 0) return `Taken: ${subjectList}.`;
  const contested = contradicting.map(([subject, kind]) => `${kind} of ${subject}`).join(', ');
  return `Taken: ${subjectList}. Another source says something else about the ${contested}; both are kept, a person decides.`;
}

function contradictsKnown(
  { snapshot }: ProposalsSession,
  [subject, kind, body]: ProposedClaim,
): boolean {
  if (kind === 'refs' || kind === 'title') return false;
  const meaning = meaningKey({ kind, body });
  return snapshot
    .claims(subject)
    .some((claim) => claim.kind === kind && meaningKey(claim) !== meaning);
}

function requireName(name: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name)) return;
  const valid = slug(name);
  const suggestion = /^[0-9]/.test(valid) ? `_${valid}` : valid;
  throw refusal(`${name} is not a valid name: use letters, digits and _ only, like ${suggestion}.`);
}
