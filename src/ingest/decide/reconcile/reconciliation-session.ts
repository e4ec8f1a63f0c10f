import type { ClaimBodies, Claim } from '../../../context/claims/claim.ts';
import { createModelDecision } from '../../../context/claims/model-decisions.ts';
import { UserError } from '../../../lib/error.ts';
import { canonicalJson } from '../../../lib/json.ts';
import { didYouMean } from '../../../lib/suggest.ts';
import type { ComparedNumber } from '../compare-metrics.ts';
import type { Snapshot } from '../../project-snapshot.ts';
import type { Contested } from './open-conflicts.ts';

/** Raise it when the prompt or the tools change: then what is open is looked at again. */
export const reconciliation = 'reconciliation@1';

/** What is ruled about one conflict. */
export type Finding = {
  readonly [Kind in 'same_meaning' | 'contradiction']: { kind: Kind; body: ClaimBodies[Kind] };
}['same_meaning' | 'contradiction'];

interface Session {
  readonly page: readonly Contested[];
  /** The numbers of the versions of a metric. */
  readonly compare: (conflict: Contested) => Promise<ReadonlyMap<string, ComparedNumber>>;
  /** The text of an item, by its path in the project. */
  readonly textOf: (path: string) => string | undefined;
  /** What is found about a conflict already. */
  readonly before: (conflict: Contested) => readonly Finding[];
  /** Has all that is found about a conflict on the disk before it counts. */
  readonly keep: (conflict: Contested, findings: readonly Finding[]) => void;
  readonly snapshot: Snapshot;
}

/** The session of one loop: some conflicts, and what was found about them. */
export type ReconciliationSession = ReturnType<typeof openReconciliationSession>;

export function openReconciliationSession({
  page,
  compare,
  textOf,
  before,
  keep,
  snapshot,
}: Session) {
  const found = new Map<Contested, readonly Finding[]>();
  const findingsOf = (conflict: Contested) => found.get(conflict) ?? before(conflict);
  const open = () => page.filter((conflict) => !isDecided(conflict, findingsOf(conflict)));
  const find = (subject: string, kind: string | undefined): Contested => {
    const named = page.filter(
      (one) => one.subject === subject && (kind === undefined || one.kind === kind),
    );
    const [conflict, other] =
      named.length > 1 ? named.filter((one) => open().includes(one)) : named;
    if (other !== undefined)
      throw refusal(`Say which: kind ${named.map((one) => one.kind).join(' or ')}.`);
    if (conflict !== undefined) return conflict;
    const names = open().map((one) => one.subject);
    throw refusal(
      `${subject} is not contested here. ${didYouMean(subject, names) ?? 'list_contested lists what is.'}`,
    );
  };
  const add = (conflict: Contested, finding: Finding): string => {
    if (!open().includes(conflict))
      throw refusal(
        `${conflict.subject} ${conflict.kind} is decided already; go on with the others.`,
      );
    const all = [...findingsOf(conflict), finding];
    keep(conflict, all);
    found.set(conflict, all);
    return `Recorded. ${open().length} of ${page.length} are left.`;
  };
  return {
    snapshot,
    list: () =>
      open().map(({ subject, kind, variants }) => ({ subject, kind, versions: variants })),
    /** Each place that says so, with its surroundings. */
    read(id: string) {
      const evidence = page.flatMap((conflict) => conflict.evidence.get(id) ?? []);
      if (evidence.length > 0)
        return evidence.slice(0, 5).map((one) => ({ ...one, around: around(one, textOf) }));
      throw refusal(`${id} is no version of what is contested here. list_contested has the ids.`);
    },
    async compare(subject: string) {
      const conflict = find(
        subject,
        page.some((one) => one.subject === subject && one.kind === 'metric') ? 'metric' : undefined,
      );
      if (conflict.kind !== 'metric')
        throw refusal(`A ${conflict.kind} has no number: read the evidence.`);
      const numbers = await compare(conflict);
      return conflict.variants.map(({ id, says }) => ({
        id,
        says,
        ...(numbers.get(id) ?? { failure: 'its warehouse does not open' }),
      }));
    },
    async markSame(
      subject: string,
      said: {
        readonly kind?: string | undefined;
        readonly versions: readonly string[];
        readonly why: string;
      },
    ) {
      const conflict = find(subject, said.kind);
      const ids = [...new Set(said.versions)].sort();
      const fault = versionsFault(conflict, ids) ?? (await differenceOf(conflict, ids, compare));
      if (fault !== undefined) throw refusal(fault);
      return add(conflict, {
        kind: 'same_meaning',
        body: { kind: conflict.kind, claims: ids, why: oneLine(said.why) },
      });
    },
    markContradiction(
      subject: string,
      { kind, why }: { readonly kind?: string | undefined; readonly why: string },
    ) {
      const conflict = find(subject, kind);
      const claims = conflict.variants.map(({ id }) => id).sort();
      return add(conflict, {
        kind: 'contradiction',
        body: { kind: conflict.kind, claims, why: oneLine(why) },
      });
    },
    found: (): ReadonlyMap<Contested, readonly Finding[]> => found,
  };
}

/** A contradiction is a person's; versions that all mean the same are one. */
export function isDecided({ variants }: Contested, findings: readonly Finding[]): boolean {
  if (findings.some(({ kind }) => kind === 'contradiction')) return true;
  let apart = variants.map(({ id }) => [id]);
  for (const { body } of findings) {
    const isMeant = (group: readonly string[]) => group.some((id) => body.claims.includes(id));
    apart = [...apart.filter((group) => !isMeant(group)), apart.filter(isMeant).flat()];
  }
  return apart.filter((group) => group.length > 0).length < 2;
}

function versionsFault({ variants }: Contested, ids: readonly string[]): string | undefined {
  const known = variants.map(({ id }) => id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown !== undefined) return `${unknown} is no version of it: ${known.join(', ')}.`;
  return ids.length < 2 ? `Name two versions at least: ${known.join(', ')}.` : undefined;
}

/** What code sees of a difference: then no model may say that they mean the same. */
async function differenceOf(
  conflict: Contested,
  ids: readonly string[],
  compare: Session['compare'],
): Promise<string | undefined> {
  const texts = conflict.variants
    .filter(({ id }) => ids.includes(id))
    .map(({ says }) => (typeof says === 'string' ? says : canonicalJson(says)));
  if (['type', 'primary_key', 'relationship'].includes(conflict.kind)) {
    return `Code compares a ${conflict.kind} exactly, and these differ: mark the contradiction.`;
  }
  if (conflict.kind === 'metric') {
    const numbers = await compare(conflict);
    const results = ids.map((id) => numbers.get(id));
    const [first] = results;
    const isProven =
      first?.value !== undefined &&
      first.value !== null &&
      results.every((one) => isClose(one?.value, first.value));
    if (isProven) return undefined;
    const said = ids
      .map((id, index) => `${id}: ${canonicalJson(results[index] ?? 'did not run')}`)
      .join(', ');
    return `Their numbers do not prove that they are the same (${said}): mark the contradiction.`;
  }
  const figures = texts.map((text) =>
    [...new Set(text.match(/\d+(?:[.,]\d+)*/g))].sort().join(' '),
  );
  return new Set(figures).size > 1
    ? 'They name different figures: mark the contradiction.'
    : undefined;
}

/** Sums in another order differ in their last digits. */
function isClose(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const [x, y] = [Number(a), Number(b)];
  return Math.abs(x - y) <= 1e-9 * Math.max(Math.abs(x), Math.abs(y));
}

const mostAround = 2000;

/** The lines about the place that evidence names. */
function around(
  { item, location, quote }: Claim['evidence'][number],
  textOf: Session['textOf'],
): string | undefined {
  const text = item === undefined ? undefined : textOf(item);
  if (text === undefined) return undefined;
  const line = Number(/^line (\d+)/.exec(location ?? '')?.[1] ?? 1);
  const lines = text.split('\n').slice(Math.max(0, line - 6), line + 5);
  const joined = lines.join('\n');
  const at = Math.max(0, quote === undefined ? 0 : joined.indexOf(quote) - mostAround / 2);
  return joined.slice(at, at + mostAround).toWellFormed();
}

/** The finding as it is recorded in git. */
export function rulingOf({ subject }: Contested, finding: Finding): Claim {
  return createModelDecision(reconciliation, subject, finding);
}

function oneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, 300)
    .toWellFormed();
}

function refusal(message: string): UserError {
  return new UserError('refused', message);
}
