import { z } from 'zod';
import type { Dataset } from '../../semantic/model/dataset.ts';
import { bodySchemas, subjects, type Claim, type ClaimKind } from '../claims/claim.ts';
import { uniteClaims } from '../claims/claims-file.ts';
import {
  applyModelDecisions,
  isModelDecision,
  subjectKindKey,
  type DecidedClaims,
} from '../claims/model-decisions.ts';
import { findPin, type Pin } from '../claims/pins.ts';
import type { Authority } from './authority.ts';
import { parseSubject, type DatasetRef, type SubjectParts } from '../claims/subject.ts';
import { assembleDataset, type SubjectClaims } from './assemble.ts';
import { rankClaims, type RankedClaims } from './claim-precedence.ts';
import { findConflicts, type Conflict } from './conflicts.ts';
import { withoutCompetingSynonyms, type WrittenSynonyms } from './competing-synonyms.ts';
import { settleMetrics } from './possible-metrics.ts';
import { ownDefinitions } from './own-definitions.ts';
import { withoutNeedlessProposals } from './proposals.ts';
import { settleJoins, withoutRejected, type JoinInDoubt } from './joins-in-doubt.ts';

export interface Compilation {
  /** Sorted by name. */
  readonly artifacts: readonly Dataset[];
  /** Sorted by subject and kind. */
  readonly conflicts: readonly Conflict[];
  /**
   * Claims that are in no artifact: they name something that does not exist, or their body is not
   * of their kind.
   */
  readonly quarantined: readonly { readonly claim: Claim; readonly reason: string }[];
  /** Joins that no artifact has until a person accepts them. */
  readonly inDoubt: readonly JoinInDoubt[];
}

/** What people decided. */
interface PeoplesDecisions {
  /** Subjects of the datasets whose files they deleted. */
  readonly deleted?: ReadonlySet<string>;
  readonly pins?: readonly Pin[];
  readonly authority?: Authority | undefined;
  /** What they wrote into files. */
  readonly written?: readonly WrittenSynonyms[];
}

/** A claim with the parts of its subject. */
interface LocatedClaim {
  readonly claim: Claim;
  readonly subject: SubjectParts;
}

/**
 * Compiles claims about warehouses to datasets: pure, total, and independent of the order of the
 * claims. A claim that cannot be shown is returned with the reason and does not hold up the others.
 * Nothing refers to a dataset that a person deleted; every other edit is applied by the merge.
 */
export function compileDatasets(
  claims: Iterable<Claim>,
  { deleted = new Set(), pins = [], authority, written = [] }: PeoplesDecisions = {},
): Compilation {
  const quarantined: Compilation['quarantined'][number][] = [];
  const quarantineIf = (claim: Claim, reason: string | undefined) => {
    if (reason !== undefined) quarantined.push({ claim, reason });
    return reason !== undefined;
  };
  const own = ownDefinitions(pins).filter(
    ({ kind, subject }) => !settledKinds.has(kind) && parseSubject(subject) !== undefined,
  );
  const all = uniteClaims([...claims, ...own]);
  const known = settleMetrics(withoutRejected(all, pins), pins).claims;
  const asked = withoutNeedlessProposals(known, pins).filter(
    ({ kind }) => kind !== 'possible_access',
  );
  const { claims: settled, inDoubt } = settleJoins(asked, pins);
  const united = uniteClaims(settled);
  const decided = applyModelDecisions(united, pins);
  // A decision can make two claims equal; without decisions the claims are united already.
  const effective = united.some(isModelDecision) ? uniteClaims(decided.claims) : decided.claims;
  const located = effective.flatMap((claim): LocatedClaim[] => {
    const subject = parseSubject(claim.subject);
    const isFaulty = quarantineIf(claim, findClaimError(claim, subject));
    return !isFaulty && subject ? [{ claim, subject }] : [];
  });
  const isStanding = (claim: LocatedClaim) =>
    deleted.size === 0 || !listNamedSubjects(claim).some((name) => deleted.has(name));
  const standing = located.filter(isStanding);
  const existing = new Set(
    standing
      .filter(({ claim, subject }) => claim.kind === subject.type)
      .map(({ claim }) => claim.subject),
  );
  const sound = standing.filter(
    (candidate) => !quarantineIf(candidate.claim, findNameError(candidate, existing)),
  );
  const bySubject = [...Map.groupBy(sound, ({ claim }) => claim.subject).values()];
  const subjectClaims = bySubject.flatMap((group): SubjectClaims[] => {
    const ranked = rankByKind(
      group.map(({ claim }) => claim),
      { pins, authority },
      decided,
    );
    return group.slice(0, 1).map(({ subject }) => ({ subject, byKind: ranked }));
  });
  const conflicts = findConflicts(subjectClaims.flatMap(({ byKind }) => [...byKind.values()]));
  const shown = withoutCompetingSynonyms(subjectClaims, written);
  return { artifacts: assembleDatasets(shown), conflicts, quarantined, inDoubt };
}

/** What people wrote of these counts where it is settled whether they are used at all. */
const settledKinds: ReadonlySet<ClaimKind> = new Set(['metric', 'relationship']);

/** Ranks all claims about one subject, kind by kind. */
export function rankByKind(
  claims: readonly Claim[],
  { pins, authority }: Pick<PeoplesDecisions, 'authority'> & { readonly pins: readonly Pin[] },
  { equivalent }: Pick<DecidedClaims, 'equivalent'>,
): Map<ClaimKind, RankedClaims> {
  const byKind = [...Map.groupBy(claims, ({ kind }) => kind)];
  return new Map(
    byKind.map(([kind, group]) => {
      const [first] = group;
      const pin = first && findPin(pins, first);
      const known = first && equivalent.get(subjectKindKey(first));
      return [kind, rankClaims(group, { pin, equivalent: known, authority })];
    }),
  );
}

/** Why the body does not fit the kind of the claim; undefined if it fits. */
export function findBodyError({ kind, body }: Pick<Claim, 'kind' | 'body'>): string | undefined {
  const { error } = bodySchemas[kind].safeParse(body);
  return error && `its body is not that of a ${kind}: ${z.prettifyError(error).split('\n')[0]}`;
}

/**
 * The type of subject that a kind of claim is about; kinds that are not listed can be about any.
 */
const subjectTypes: Partial<Record<ClaimKind, SubjectParts['type']>> = {
  dataset: 'dataset',
  field: 'field',
  type: 'field',
  values: 'field',
  primary_key: 'dataset',
  unique_key: 'dataset',
  default_time: 'dataset',
  time_spine: 'dataset',
  constraint: 'dataset',
  layer: 'dataset',
  metric: 'metric',
  unit: 'metric',
  relationship: 'relationship',
  possible_relationship: 'relationship',
  possible_metric: 'metric',
  possible_access: 'dataset',
};

const wikiKinds: ReadonlySet<ClaimKind> = new Set([
  'title',
  'definition',
  'rule',
  'refs',
  'page',
  'url',
]);

function findClaimError(
  { kind, body }: Claim,
  subject: SubjectParts | undefined,
): string | undefined {
  if (!subject) return 'its subject is not part of a warehouse';
  const type = subjectTypes[kind] ?? subject.type;
  if (wikiKinds.has(kind) || type !== subject.type)
    return `a ${subject.type} cannot have a ${kind}`;
  return findBodyError({ kind, body });
}

/** Everything that a claim names must exist. */
function findNameError(located: LocatedClaim, existing: ReadonlySet<string>): string | undefined {
  const [dataset = '', ...names] = listNamedSubjects(located);
  const missing = [dataset, located.claim.subject, ...names].find((name) => !existing.has(name));
  return missing === undefined ? undefined : `there is no ${missing.replace(':', ' ')}`;
}

/**
 * The subject of the claim's own dataset, then the subjects that its body names, datasets first.
 */
function listNamedSubjects({ claim: { kind, body }, subject }: LocatedClaim): string[] {
  const { connection, dataset } = subject;
  const own = datasetSubject(subject);
  const fields = (owner: string, names: readonly string[]) =>
    names.map((name) => subjects.field(connection, owner, name));
  if (kind === 'primary_key' || kind === 'unique_key')
    return [own, ...fields(dataset, bodySchemas[kind].parse(body))];
  if (kind === 'default_time')
    return [own, ...fields(dataset, [bodySchemas.default_time.parse(body)])];
  if (kind === 'time_spine')
    return [own, ...fields(dataset, [bodySchemas.time_spine.parse(body).column])];
  if (kind !== 'relationship') return [own];
  const { to, on } = bodySchemas.relationship.parse(body);
  return [
    own,
    subjects.dataset(connection, to),
    ...fields(dataset, Object.keys(on)),
    ...fields(to, Object.values(on)),
  ];
}

function assembleDatasets(subjectClaims: readonly SubjectClaims[]): Dataset[] {
  const byDataset = Map.groupBy(subjectClaims, ({ subject }) => datasetSubject(subject));
  const datasets = subjectClaims.filter(({ subject }) => subject.type === 'dataset');
  const artifacts = datasets.map((dataset) =>
    assembleDataset(dataset, byDataset.get(datasetSubject(dataset.subject)) ?? []),
  );
  return artifacts.sort((a, b) => (a.dataset < b.dataset ? -1 : 1));
}

function datasetSubject({ connection, dataset }: DatasetRef): string {
  return subjects.dataset(connection, dataset);
}
