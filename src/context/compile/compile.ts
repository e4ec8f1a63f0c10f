import { z } from 'zod';
import type { Dataset } from '../../semantic/model/dataset.ts';
import { assembleDataset, type SubjectClaims } from './assemble.ts';
import { bodySchemas, subjects, type Claim, type ClaimKind } from '../claims/claim.ts';
import { uniteClaims } from '../claims/claims-file.ts';
import { findConflicts, type Conflict } from './conflicts.ts';
import { rankClaims, type RankedClaims } from './claim-precedence.ts';
import { findPin, type Pin } from '../claims/pins.ts';
import {
  applyModelDecisions,
  isModelDecision,
  subjectKindKey,
  type DecidedClaims,
} from '../claims/model-decisions.ts';
import { parseSubject, type DatasetRef, type SubjectParts } from '../claims/subject.ts';

export interface Compilation {
  /** Sorted by name. */
  readonly artifacts: readonly Dataset[];
  /** Sorted by subject and kind. */
  readonly conflicts: readonly Conflict[];
  /** Claims that are in no artifact, because what they speak of does not exist or their body is not of their kind. */
  readonly quarantined: readonly { readonly claim: Claim; readonly reason: string }[];
}

/** A claim with the parts of its subject. */
interface Read {
  readonly claim: Claim;
  readonly about: SubjectParts;
}

/** What people decided. */
export interface Decided {
  /** Subjects of datasets whose files they deleted. */
  readonly deleted?: ReadonlySet<string>;
  readonly pins?: readonly Pin[];
}

/**
 * Claims to artifacts: pure, total, and the same whatever the order of its inputs. A claim that cannot be shown is
 * returned with its reason and holds up nothing else. Nothing refers to a dataset (by subject) that a person deleted; all
 * other edits are the merge's.
 */
export function compileDatasets(
  claims: Iterable<Claim>,
  { deleted = new Set(), pins = [] }: Decided = {},
): Compilation {
  const quarantined: Compilation['quarantined'][number][] = [];
  const isSound = (claim: Claim, fault: string | undefined) => {
    if (fault !== undefined) quarantined.push({ claim, reason: fault });
    return fault === undefined;
  };
  const united = uniteClaims(claims);
  const ruled = applyModelDecisions(united, pins);
  // Without rulings they are those that were united before.
  const counted = united.some(isModelDecision) ? uniteClaims(ruled.claims) : ruled.claims;
  const read = counted.flatMap((claim): Read[] => {
    const about = parseSubject(claim.subject);
    return isSound(claim, bodyFault(claim, about)) && about ? [{ claim, about }] : [];
  });
  const standing = read.filter(
    (one) => ![datasetOf(one.about), ...namedIn(one)].some((subject) => deleted.has(subject)),
  );
  const exists = new Set(
    standing
      .filter(({ claim, about }) => claim.kind === about.type)
      .map(({ claim }) => claim.subject),
  );
  const kept = standing.filter((one) => isSound(one.claim, identifierFault(one, exists)));
  const known = [...Map.groupBy(kept, ({ claim }) => claim.subject).values()].flatMap(
    (group): SubjectClaims[] => {
      const verdicts = rankByKind(
        group.map(({ claim }) => claim),
        pins,
        ruled,
      );
      return group.slice(0, 1).map(({ about }) => ({ about, verdicts }));
    },
  );
  const conflicts = findConflicts(known.flatMap(({ verdicts }) => [...verdicts.values()]));
  return { artifacts: artifactsOf(known), conflicts, quarantined };
}

/** Of all claims about one subject. */
export function rankByKind(
  claims: readonly Claim[],
  pins: readonly Pin[],
  { alike }: Pick<DecidedClaims, 'alike'>,
): Map<ClaimKind, RankedClaims> {
  const byKind = [...Map.groupBy(claims, ({ kind }) => kind)];
  return new Map(
    byKind.map(([kind, group]) => {
      const [first] = group;
      return [
        kind,
        rankClaims(group, first && findPin(pins, first), first && alike.get(subjectKindKey(first))),
      ];
    }),
  );
}

function artifactsOf(known: readonly SubjectClaims[]): Dataset[] {
  const byDataset = Map.groupBy(known, ({ about }) => datasetOf(about));
  const datasets = known.filter(({ about }) => about.type === 'dataset');
  const artifacts = datasets.map((own) =>
    assembleDataset(own, byDataset.get(datasetOf(own.about)) ?? []),
  );
  return artifacts.sort((a, b) => (a.dataset < b.dataset ? -1 : 1));
}

function datasetOf({ connection, dataset }: DatasetRef): string {
  return subjects.dataset(connection, dataset);
}

const subjectTypes: Partial<Record<ClaimKind, SubjectParts['type']>> = {
  dataset: 'dataset',
  field: 'field',
  type: 'field',
  values: 'field',
  primary_key: 'dataset',
  unique_key: 'dataset',
  default_time: 'dataset',
  metric: 'metric',
  unit: 'metric',
  relationship: 'relationship',
};

function bodyFault({ kind, body }: Claim, about: SubjectParts | undefined): string | undefined {
  if (!about) return 'its subject is none of a warehouse';
  const isWiki =
    kind === 'title' ||
    kind === 'definition' ||
    kind === 'rule' ||
    kind === 'refs' ||
    kind === 'page';
  if (isWiki || (subjectTypes[kind] ?? about.type) !== about.type)
    return `${kind} cannot be said of a ${about.type}`;
  return findBodyError({ kind, body });
}

export function findBodyError({ kind, body }: Pick<Claim, 'kind' | 'body'>): string | undefined {
  const { error } = bodySchemas[kind].safeParse(body);
  return error && `its body is not that of a ${kind}: ${z.prettifyError(error).split('\n')[0]}`;
}

/** Everything that the claim names must exist; and a metric must have its name for itself. */
function identifierFault({ claim, about }: Read, exists: ReadonlySet<string>): string | undefined {
  const missing = [datasetOf(about), claim.subject, ...namedIn({ claim, about })].find(
    (subject) => !exists.has(subject),
  );
  if (missing !== undefined) return `there is no ${missing.replace(':', ' ')}`;
  const isTaken =
    claim.kind === 'metric' &&
    exists.has(subjects.field(about.connection, about.dataset, about.name));
  return isTaken ? `${about.dataset} has a field of the same name` : undefined;
}

/** The subjects that a claim's body names, datasets first. */
function namedIn({ claim: { kind, body }, about: { connection, dataset } }: Read): string[] {
  const fields = (owner: string, names: readonly string[]) =>
    names.map((name) => subjects.field(connection, owner, name));
  if (kind === 'primary_key' || kind === 'unique_key')
    return fields(dataset, bodySchemas[kind].parse(body));
  if (kind === 'default_time') return fields(dataset, [bodySchemas.default_time.parse(body)]);
  if (kind !== 'relationship') return [];
  const { to, on } = bodySchemas.relationship.parse(body);
  return [
    subjects.dataset(connection, to),
    ...fields(dataset, Object.keys(on)),
    ...fields(to, Object.values(on)),
  ];
}
