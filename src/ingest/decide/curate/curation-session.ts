import { slug } from '../../../context/catalog/slug.ts';
import { bodySchemas, type Claim, type ClaimBodies } from '../../../context/claims/claim.ts';
import { createModelDecision } from '../../../context/claims/model-decisions.ts';
import { didYouMean } from '../../../lib/suggest.ts';
import type { Snapshot } from '../../project-snapshot.ts';
import { decisionRefusal } from '../decision-refusal.ts';
import {
  findSimilar,
  subjectType,
  type CurationCandidate,
  type CurationWiki,
} from './candidates.ts';

/** Raise it when the prompt or the tools change: then the new ones decide what is undecided. */
export const curationVersion = 'curation@1';

/** A candidate goes on a page, is the same as another subject, or is rejected. */
export type CurationDecision = {
  readonly [Kind in 'page' | 'same_as' | 'rejected']: { kind: Kind; body: ClaimBodies[Kind] };
}['page' | 'same_as' | 'rejected'];

interface CurationOptions {
  readonly wiki: CurationWiki;
  /** The candidates of this session. */
  readonly page: readonly CurationCandidate[];
  /** Stores a decision on disk, before it counts. */
  readonly save: (candidate: CurationCandidate, decision: CurationDecision) => void;
  readonly snapshot: Snapshot;
}

/**
 * Collects what a model decides about some candidates in one loop. The first decision about a
 * candidate stands. Methods throw a refusal that tells the model what would be valid.
 */
export type CurationSession = ReturnType<typeof openCurationSession>;

export function openCurationSession({ wiki, page, save, snapshot }: CurationOptions) {
  const decisions = new Map<CurationCandidate, CurationDecision>();
  const listOpen = () => page.filter((candidate) => !decisions.has(candidate));
  const findOpen = (subject: string): CurationCandidate => {
    const candidate = page.find((own) => own.subject === subject);
    if (candidate === undefined) {
      const choices = listOpen().map((own) => own.subject);
      const hint = didYouMean(subject, choices) ?? 'list_candidates lists them.';
      throw decisionRefusal(`${subject} is not a candidate of this page. ${hint}`);
    }
    if (decisions.has(candidate))
      throw decisionRefusal(`${subject} is decided already; go on with the others.`);
    return candidate;
  };
  const decide = (candidate: CurationCandidate, decision: CurationDecision): string => {
    const fault = findDecisionFault(wiki, candidate, decision);
    if (fault !== undefined) throw decisionRefusal(fault);
    save(candidate, decision);
    decisions.set(candidate, decision);
    return `Recorded. ${listOpen().length} of ${page.length} candidates are left.`;
  };
  return {
    snapshot,
    /** The undecided candidates, each with similar entries, and the pages of the wiki. */
    list: () => ({
      candidates: listOpen().map((candidate) => describeCandidate(wiki, candidate)),
      pages: [...Map.groupBy(wiki.entries.values(), (entry) => entry.page)]
        .map(([name, entries]) => `${name} (${entries.length})`)
        .sort(),
    }),
    place: (subject: string, target: string) =>
      decide(findOpen(subject), { kind: 'page', body: target }),
    merge: (subject: string, into: string) =>
      decide(findOpen(subject), { kind: 'same_as', body: into }),
    reject(subject: string, why: string) {
      const candidate = findOpen(subject);
      const body = { claims: [...candidate.claims], why: shortLine(why) };
      return decide(candidate, { kind: 'rejected', body });
    },
    decisions: (): ReadonlyMap<CurationCandidate, CurationDecision> => decisions,
  };
}

function describeCandidate(wiki: CurationWiki, candidate: CurationCandidate) {
  const { subject, title, statements, places } = candidate;
  const similar = findSimilar(wiki, candidate).flatMap((name) => wiki.entries.get(name) ?? []);
  return {
    candidate: subject,
    title,
    says: statements.map(shortLine),
    from: places.slice(0, 5),
    resembles: similar.map((entry) => ({
      subject: entry.subject,
      says: entry.statements.slice(0, 3).map(shortLine),
    })),
  };
}

const longestPageName = 60;

/** Why the decision is not possible, for a model, with what is; undefined if it is possible. */
export function findDecisionFault(
  wiki: CurationWiki,
  candidate: CurationCandidate,
  { kind, body }: CurationDecision,
): string | undefined {
  switch (kind) {
    case 'page': {
      if (bodySchemas.page.safeParse(body).success && body.length <= longestPageName)
        return undefined;
      const valid = slug(body).slice(0, longestPageName);
      return `${JSON.stringify(body)} is not a valid page name: use letters, digits, _ and - only, like ${valid}.`;
    }
    case 'same_as':
      return findMergeFault(wiki, candidate, body);
    case 'rejected':
      if (!candidate.isModelOnly)
        return `${candidate.subject} stands in a table that code read: it cannot be rejected. Place it, or merge it.`;
      return body.claims.join() === candidate.claims.join()
        ? undefined
        : 'The claims about it have changed since.';
  }
  return kind satisfies never;
}

function findMergeFault(
  wiki: CurationWiki,
  candidate: CurationCandidate,
  into: string,
): string | undefined {
  const { subject } = candidate;
  const type = subjectType(subject);
  if (into === subject) return `${subject} is the candidate itself: name another, or place it.`;
  const others = [...wiki.entries.keys()].filter(
    (entry) => entry !== subject && subjectType(entry) === type,
  );
  if (others.includes(into)) return undefined;
  const similar = findSimilar(wiki, candidate).join(', ') || 'Nothing resembles it: place it.';
  return `${into} is not a known ${type}. ${didYouMean(into, others) ?? similar}`;
}

/** The decision as a claim, as git has it. */
export function curationClaim({ subject }: CurationCandidate, decision: CurationDecision): Claim {
  return createModelDecision(curationVersion, subject, decision);
}

const longestLine = 300;

function shortLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ').trim();
  return line.length > longestLine ? `${line.slice(0, longestLine).toWellFormed()}…` : line;
}
