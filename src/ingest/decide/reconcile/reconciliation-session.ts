import type { Claim, ClaimBodies } from '../../../context/claims/claim.ts';
import { createModelDecision } from '../../../context/claims/model-decisions.ts';
import { didYouMean } from '../../../lib/suggest.ts';
import type { Snapshot } from '../../project-snapshot.ts';
import type { ModelNumber } from './compare-for-model.ts';
import { decisionRefusal } from '../decision-refusal.ts';
import { type CompareVersions, findDifference } from './find-difference.ts';
import type { OpenConflict } from './open-conflicts.ts';

/** Raise it when the prompt or the tools change: then open conflicts are looked at again. */
export const reconciliationVersion = 'reconciliation@1';

/** Some versions of a conflict mean the same, or they contradict each other. */
export type ReconciliationDecision = {
  readonly [Kind in 'same_meaning' | 'contradiction']: { kind: Kind; body: ClaimBodies[Kind] };
}['same_meaning' | 'contradiction'];

export interface ReconciliationOptions {
  /** The conflicts of this session. */
  readonly page: readonly OpenConflict[];
  /** Computes the numbers of the versions of a metric. */
  readonly compare: CompareVersions;
  /** The text of an item, by its path in the project. */
  readonly itemText: (path: string) => string | undefined;
  /** The decisions about a conflict before this session. */
  readonly earlier: (conflict: OpenConflict) => readonly ReconciliationDecision[];
  /** Stores all decisions about a conflict on disk, before the new one counts. */
  readonly save: (conflict: OpenConflict, decisions: readonly ReconciliationDecision[]) => void;
  readonly snapshot: Snapshot;
}

/** A conflict as a tool names it; the kind is needed if several conflicts have that subject. */
interface ConflictReference {
  readonly subject: string;
  readonly kind?: string | undefined;
}

/**
 * Collects what a model decides about some conflicts in one loop. Methods throw a refusal that
 * tells the model what would be valid.
 */
export type ReconciliationSession = ReturnType<typeof openReconciliationSession>;

export function openReconciliationSession(options: ReconciliationOptions) {
  const { page, compare, itemText, earlier, save, snapshot } = options;
  const decisions = new Map<OpenConflict, readonly ReconciliationDecision[]>();
  const decisionsOf = (conflict: OpenConflict) => decisions.get(conflict) ?? earlier(conflict);
  const listUndecided = () =>
    page.filter((conflict) => !isDecided(conflict, decisionsOf(conflict)));
  const find = (reference: ConflictReference) => findConflict(page, listUndecided(), reference);
  const decide = (conflict: OpenConflict, decision: ReconciliationDecision): string => {
    if (!listUndecided().includes(conflict))
      throw decisionRefusal(
        `${conflict.subject} ${conflict.kind} is decided already; go on with the others.`,
      );
    const all = [...decisionsOf(conflict), decision];
    save(conflict, all);
    decisions.set(conflict, all);
    return `Recorded. ${listUndecided().length} of ${page.length} are left.`;
  };
  return {
    snapshot,
    list: () =>
      listUndecided().map(({ subject, kind, variants }) => ({ subject, kind, versions: variants })),
    /** The evidence of a version, at most five places, each with the lines around it. */
    read(id: string) {
      const evidence = page.flatMap((conflict) => conflict.evidence.get(id) ?? []);
      if (evidence.length === 0)
        throw decisionRefusal(
          `${id} is not the id of a version of these conflicts. list_contested has the ids.`,
        );
      return evidence
        .slice(0, 5)
        .map((place) => ({ ...place, around: linesAround(place, itemText) }));
    },
    /**
     * The versions of a metric with the numbers that a model may see, and what the ledger has of
     * them.
     */
    async compare(subject: string) {
      const isMetric = page.some((own) => own.subject === subject && own.kind === 'metric');
      const conflict = find({ subject, kind: isMetric ? 'metric' : undefined });
      if (conflict.kind !== 'metric')
        throw decisionRefusal(`A ${conflict.kind} has no number: read the evidence.`);
      const numbers = await compare(conflict);
      const versions = conflict.variants.map(({ id, says }) => {
        const { shown: value, failure, with: given } = numbers.get(id) ?? notReachable;
        return { id, says, value, failure, with: given };
      });
      return { versions, values: [...numbers.values()].flatMap(({ sent }) => sent ?? []) };
    },
    async markSame(
      subject: string,
      marked: { kind?: string | undefined; versions: readonly string[]; why: string },
    ) {
      const conflict = find({ subject, kind: marked.kind });
      const ids = [...new Set(marked.versions)].sort();
      const fault =
        findVersionsFault(conflict, ids) ?? (await findDifference(conflict, ids, compare));
      if (fault !== undefined) throw decisionRefusal(fault);
      const body = { kind: conflict.kind, claims: ids, why: shortReason(marked.why) };
      return decide(conflict, { kind: 'same_meaning', body });
    },
    markContradiction(subject: string, { kind, why }: { kind?: string | undefined; why: string }) {
      const conflict = find({ subject, kind });
      const claims = conflict.variants.map(({ id }) => id).sort();
      const body = { kind: conflict.kind, claims, why: shortReason(why) };
      return decide(conflict, { kind: 'contradiction', body });
    },
    decisions: (): ReadonlyMap<OpenConflict, readonly ReconciliationDecision[]> => decisions,
  };
}

const notReachable: ModelNumber = { failure: 'its warehouse does not open' };

function findConflict(
  page: readonly OpenConflict[],
  undecided: readonly OpenConflict[],
  { subject, kind }: ConflictReference,
): OpenConflict {
  const named = page.filter(
    (conflict) => conflict.subject === subject && (kind === undefined || conflict.kind === kind),
  );
  const [conflict, other] =
    named.length > 1 ? named.filter((candidate) => undecided.includes(candidate)) : named;
  if (other !== undefined) {
    const kinds = named.map((candidate) => candidate.kind).join(' or ');
    throw decisionRefusal(`Several conflicts have this subject: set kind to ${kinds}.`);
  }
  if (conflict !== undefined) return conflict;
  const choices = undecided.map((candidate) => candidate.subject);
  const hint = didYouMean(subject, choices) ?? 'list_contested lists what is.';
  throw decisionRefusal(`${subject} is not contested here. ${hint}`);
}

/**
 * A contradiction is decided, because the rest is up to a person. So is a conflict whose versions
 * all mean the same.
 */
export function isDecided(
  { variants }: OpenConflict,
  decisions: readonly ReconciliationDecision[],
): boolean {
  if (decisions.some(({ kind }) => kind === 'contradiction')) return true;
  let groups = variants.map(({ id }) => [id]);
  for (const { body } of decisions) {
    const isSame = (group: readonly string[]) => group.some((id) => body.claims.includes(id));
    const same = groups.filter(isSame).flat();
    groups = [...groups.filter((group) => !isSame(group)), ...(same.length > 0 ? [same] : [])];
  }
  return groups.length < 2;
}

function findVersionsFault({ variants }: OpenConflict, ids: readonly string[]): string | undefined {
  const known = variants.map(({ id }) => id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown !== undefined) return `${unknown} is not one of its versions: ${known.join(', ')}.`;
  return ids.length < 2 ? `Name at least two versions: ${known.join(', ')}.` : undefined;
}

const mostCharactersAround = 2000;
const linesBeside = 5;

/** The lines around the place that evidence names; undefined if the item has no text. */
function linesAround(
  { item, location, quote }: Claim['evidence'][number],
  itemText: ReconciliationOptions['itemText'],
): string | undefined {
  const text = item === undefined ? undefined : itemText(item);
  if (text === undefined) return undefined;
  const line = Number(/^line (\d+)/.exec(location ?? '')?.[1] ?? 1);
  const first = Math.max(0, line - 1 - linesBeside);
  const lines = text
    .split('\n')
    .slice(first, line + linesBeside)
    .join('\n');
  const quoteStart = quote === undefined ? 0 : lines.indexOf(quote);
  const start = Math.max(0, quoteStart - mostCharactersAround / 2);
  return lines.slice(start, start + mostCharactersAround).toWellFormed();
}

/** The decision as a claim, as git has it. */
export function reconciliationClaim(
  { subject }: OpenConflict,
  decision: ReconciliationDecision,
): Claim {
  return createModelDecision(reconciliationVersion, subject, decision);
}

const longestReason = 300;

function shortReason(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, longestReason)
    .toWellFormed();
}
