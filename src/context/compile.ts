import { z } from 'zod';
import { type Dataset, datasetSchema } from '../semantic/dataset.ts';
import { assembleDataset, factKey, type Read } from './assemble.ts';
import { bodies, subjects, type Claim, type ClaimKind } from './claim.ts';
import { uniteClaims } from './claims-file.ts';
import { judge, type Conflict, type Pin } from './conflicts.ts';
import { artifactPath } from './merge.ts';
import { subjectParts, type SubjectParts } from './subject.ts';

export interface Artifact {
  readonly connection: string;
  readonly dataset: string;
  readonly path: string;
  readonly value: Dataset;
}

/** A claim that is in no artifact, because what it speaks of does not exist or its body is not of its kind. */
export interface QuarantinedClaim {
  readonly claim: Claim;
  readonly reason: string;
}

export interface Compilation {
  /** Sorted by path. */
  readonly artifacts: readonly Artifact[];
  readonly conflicts: readonly Conflict[];
  readonly quarantined: readonly QuarantinedClaim[];
}

/**
 * Claims to artifacts: pure, total, and the same whatever the order of its inputs. A claim that cannot be shown is
 * returned with its reason and holds up nothing else. Of the edits, only whole datasets that a person deleted matter here
 * (nothing may refer to them); the rest is the merge's.
 */
export function compile(claims: Iterable<Claim>, pins: readonly Pin[], edits: readonly Claim[]): Compilation {
  const quarantined: QuarantinedClaim[] = [];
  const sound = (claim: Claim, reason: string | undefined) => {
    if (reason !== undefined) quarantined.push({ claim, reason });
    return reason === undefined;
  };
  const read = uniteClaims(claims).flatMap((claim): Read[] => {
    const about = subjectParts(claim.subject);
    return claim.kind !== 'edit' && sound(claim, bodyFault(claim, about)) && about ? [{ claim, about }] : [];
  });
  const deleted = new Set(edits.filter(({ body }) => body === null).map(({ subject }) => subject));
  const standing = read.filter(({ claim, about }) => !deleted.has(datasetOf(about)) && !deleted.has(targetOf({ claim, about })));
  const exists = existingSubjects(standing);
  const kept = standing.filter((one) => sound(one.claim, identifierFault(one, exists)));
  const pinned = Map.groupBy(pins, ({ subject, kind }) => factKey(subject, kind));
  const conflicts: Conflict[] = [];
  const facts = new Map<string, readonly Claim[]>();
  for (const [key, variants] of Map.groupBy(kept, ({ claim: { subject, kind } }) => factKey(subject, kind))) {
    const newest = pinned.get(key)?.toSorted((a, b) => (a.at + a.choose < b.at + b.choose ? 1 : -1))[0];
    const { ranked, conflict } = judge(variants.map(({ claim }) => claim), newest); // prettier-ignore
    facts.set(key, ranked);
    if (conflict) conflicts.push(conflict);
  }
  const artifacts = [...Map.groupBy(kept, ({ about }) => datasetOf(about)).values()].map((group) => artifactOf(group, facts));
  return { artifacts: artifacts.sort((a, b) => (a.path < b.path ? -1 : 1)), conflicts, quarantined };
}

function datasetOf({ connection, dataset }: SubjectParts): string {
  return subjects.dataset(connection, dataset);
}

function targetOf({ claim, about }: Read): string {
  const body = claim.kind === 'relationship' ? bodies.relationship.safeParse(claim.body).data : undefined;
  return body ? subjects.dataset(about.connection, body.to) : '';
}

function existingSubjects(read: readonly Read[]): Set<string> {
  const datasets = new Set(read.filter(({ claim }) => claim.kind === 'dataset').map(({ claim }) => claim.subject));
  const kinds: readonly ClaimKind[] = ['field', 'metric', 'relationship'];
  const members = read.filter(({ claim, about }) => kinds.includes(claim.kind) && datasets.has(datasetOf(about)));
  return new Set([...datasets, ...members.map(({ claim }) => claim.subject)]);
}

const subjectTypes: Partial<Record<ClaimKind, SubjectParts['type']>> = {
  dataset: 'dataset', field: 'field', type: 'field', values: 'field', primary_key: 'dataset', unique_key: 'dataset',
  default_time: 'dataset', metric: 'metric', relationship: 'relationship',
}; // prettier-ignore

function bodyFault({ kind, body }: Claim, about: SubjectParts | undefined): string | undefined {
  if (!about) return 'its subject is none of a warehouse';
  if ((subjectTypes[kind] ?? about.type) !== about.type) return `${kind} cannot be said of a ${about.type}`;
  const document = kind === 'metric' ? { dataset: 'any', metrics: [{ ...Object(body), name: about.name }] } : undefined;
  const { error } = document ? datasetSchema.safeParse(document) : bodies[kind].safeParse(body);
  return error && `its body is not that of a ${kind}: ${z.prettifyError(error).split('\n')[0]}`;
}

/** Everything that the claim names must exist. */
function identifierFault({ claim, about }: Read, exists: ReadonlySet<string>): string | undefined {
  const { connection, dataset } = about;
  if (!exists.has(datasetOf(about))) return `there is no dataset ${dataset} in ${connection}`;
  if (!exists.has(claim.subject)) return `there is no ${about.type} ${claim.subject.split(':')[1]}`;
  const named = claim.kind === 'relationship' ? bodies.relationship.parse(claim.body) : undefined;
  if (named && !exists.has(subjects.dataset(connection, named.to))) return `there is no dataset ${named.to} in ${connection}`;
  const own = named ? Object.keys(named.on) : fieldsNamed(claim);
  const missing = [
    ...own.filter((field) => !exists.has(subjects.field(connection, dataset, field))).map((field) => `${dataset}.${field}`),
    ...Object.values(named?.on ?? {})
      .filter((field) => !exists.has(subjects.field(connection, named?.to ?? '', field)))
      .map((field) => `${named?.to}.${field}`),
  ];
  if (missing.length > 0) return `there is no field ${missing.join(', ')}`;
  const isTaken = claim.kind === 'metric' && exists.has(subjects.field(connection, dataset, about.name));
  return isTaken ? `${dataset} has a field of the same name` : undefined;
}

function fieldsNamed({ kind, body }: Claim): string[] {
  if (kind === 'primary_key' || kind === 'unique_key') return bodies[kind].parse(body);
  return kind === 'default_time' ? [bodies.default_time.parse(body)] : [];
}

function artifactOf(group: readonly Read[], facts: ReadonlyMap<string, readonly Claim[]>): Artifact {
  const { connection = '', dataset = '' } = group[0]?.about ?? {};
  const path = artifactPath(connection, dataset);
  return { connection, dataset, path, value: assembleDataset(group, facts, { connection, dataset }) };
}
