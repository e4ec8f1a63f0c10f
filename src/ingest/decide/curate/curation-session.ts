import { bodySchemas, type ClaimBodies, type Claim } from '../../../context/claims/claim.ts';
import { createModelDecision } from '../../../context/claims/model-decisions.ts';
import { slug } from '../../../context/catalog/slug.ts';
import { UserError } from '../../../lib/error.ts';
import { didYouMean } from '../../../lib/suggest.ts';
import type { Snapshot } from '../../project-snapshot.ts';
import { resembling, typeOf, type Candidate, type Wiki } from './candidates.ts';

/** Raise it when the prompt or the tools change: then what is undecided is decided by the new ones. */
export const curation = 'curation@1';

/** What is decided about one candidate. */
export type Decision = {
  readonly [Kind in 'page' | 'same_as' | 'rejected']: { kind: Kind; body: ClaimBodies[Kind] };
}['page' | 'same_as' | 'rejected'];

const mostWords = 300;

interface Session {
  readonly wiki: Wiki;
  readonly page: readonly Candidate[];
  readonly keep: (candidate: Candidate, decision: Decision) => void;
  readonly snapshot: Snapshot;
}

/**
 * The session of one loop: some candidates, and what was decided about them. The first decision about a candidate holds. `keep` has it on
 * the disk before it counts.
 */
export type CurationSession = ReturnType<typeof openCurationSession>;

export function openCurationSession({ wiki, page, keep, snapshot }: Session) {
  const decided = new Map<Candidate, Decision>();
  const open = () => page.filter((candidate) => !decided.has(candidate));
  const find = (name: string): Candidate => {
    const found = page.find(({ subject }) => subject === name);
    if (found !== undefined && !decided.has(found)) return found;
    if (found !== undefined) throw refusal(`${name} is decided already; go on with the others.`);
    const names = open().map(({ subject }) => subject);
    throw refusal(
      `${name} is no candidate of this page. ${didYouMean(name, names) ?? 'list_candidates lists them.'}`,
    );
  };
  const decide = (candidate: Candidate, decision: Decision): string => {
    const fault = decisionFault(wiki, candidate, decision);
    if (fault !== undefined) throw refusal(fault);
    keep(candidate, decision);
    decided.set(candidate, decision);
    return `Recorded. ${open().length} of ${page.length} candidates are left.`;
  };
  return {
    snapshot,
    /** Those that are left, with what resembles them, and the pages that there are. */
    list() {
      const pages = Map.groupBy(wiki.topics.values(), (topic) => topic.page);
      const candidates = open().map((candidate) => {
        const { subject, title, says, from } = candidate;
        const others = resembling(wiki, candidate)
          .flatMap((name) => wiki.topics.get(name) ?? [])
          .map((other) => told(other.subject, other.says));
        return {
          candidate: subject,
          title,
          says: says.map(short),
          from: from.slice(0, 5),
          resembles: others,
        };
      });
      return {
        candidates,
        pages: [...pages].map(([name, topics]) => `${name} (${topics.length})`).sort(),
      };
    },
    place: (name: string, target: string) => decide(find(name), { kind: 'page', body: target }),
    merge: (name: string, into: string) => decide(find(name), { kind: 'same_as', body: into }),
    reject(name: string, why: string) {
      const candidate = find(name);
      return decide(candidate, {
        kind: 'rejected',
        body: { claims: [...candidate.claims], why: short(why) },
      });
    },
    decided: (): ReadonlyMap<Candidate, Decision> => decided,
  };
}

/** Why that cannot be decided about it, in words for a model that name what can. */
export function decisionFault(
  wiki: Wiki,
  candidate: Candidate,
  { kind, body }: Decision,
): string | undefined {
  const { subject, isModels, claims } = candidate;
  if (kind === 'page') {
    if (bodySchemas.page.safeParse(body).success && body.length <= 60) return undefined;
    return `${JSON.stringify(body)} is no name of a page: letters, digits, _ and - only, like ${slug(body).slice(0, 60)}.`;
  }
  if (kind === 'same_as') {
    if (body === subject) return `${subject} is the candidate itself: name another, or place it.`;
    const names = [...wiki.topics.keys()].filter(
      (name) => name !== subject && typeOf(name) === typeOf(subject),
    );
    if (names.includes(body)) return undefined;
    const hint =
      didYouMean(body, names) ??
      (resembling(wiki, candidate).join(', ') || 'Nothing resembles it: place it.');
    return `${body} is no ${typeOf(subject)} that is known. ${hint}`;
  }
  if (!isModels)
    return `${subject} stands in a table that code read: it cannot be rejected. Place it, or merge it.`;
  return body.claims.join() === claims.join() ? undefined : 'Something else is said of it by now.';
}

/** The decision as it is recorded in git. */
export function rulingOf({ subject }: Candidate, decision: Decision): Claim {
  return createModelDecision(curation, subject, decision);
}

function told(subject: string, says: readonly string[]) {
  return { subject, says: says.slice(0, 3).map(short) };
}

/** One line, in a length that a list bears. */
function short(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ').trim();
  return line.length > mostWords ? `${line.slice(0, mostWords).toWellFormed()}…` : line;
}

function refusal(message: string): UserError {
  return new UserError('refused', message);
}
