import { z } from 'zod';
import { bodySchemas, shortId, type Claim, type ClaimKind } from '../../context/claims/claim.ts';
import { rankClaims } from '../../context/compile/claim-precedence.ts';
import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { findPin, type Pin } from '../../context/claims/pins.ts';
import {
  applyModelDecisions,
  isModelDecision,
  subjectKindKey,
  createModelDecision,
} from '../../context/claims/model-decisions.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { isList, isMapping } from '../../context/merge/yaml-text.ts';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { isFatalToRun } from '../../llm/port/error.ts';
import { readPrompt } from '../../llm/prompt.ts';
import type { Mended, Quarantined } from '../report.ts';
import type { IngestModel } from '../model.ts';
import type { FileTree } from '../publish/project-files.ts';
import { stageReport } from './decision-loop.ts';

/** Raise it when the prompt changes: then what could not be mended is tried once more. */
const extractor = 'repair@1';
const mostTries = 2;
/** Of one run; the others wait for the next. */
const mostClaims = 100;

const repairable: ReadonlySet<ClaimKind> = new Set([
  'metric',
  'field',
  'relationship',
  'primary_key',
  'unique_key',
  'default_time',
]);

interface Repair {
  readonly model: IngestModel;
  /** No call can succeed any more: what is paid for counts, the rest waits. */
  readonly isOver: boolean;
  readonly faults: readonly Quarantined[];
  /** All that stand, as they were said, with what is ruled about them. */
  readonly claims: readonly Claim[];
  readonly pins: readonly Pin[];
  /** The files as they would be published. */
  readonly view: FileTree;
  /** Why a mended claim does not pass, with the ruling that mends it in place; undefined where it does. */
  readonly faultWith: (
    ruled: Claim,
    mended: Omit<Claim, 'evidence'>,
  ) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** A claim that does not work, as it was said and as it counts. */
interface Faulty {
  readonly claim: Claim;
  readonly counted: Claim;
  readonly reason: string;
}

/**
 * Asks a model to mend claims of code and of models that failed a check: at most twice each, and only what passes the same check again
 * counts. What could not be mended is recorded as such, so that nobody asks again until the claim or its fault is another.
 */
export async function repairClaims({
  model,
  faults,
  claims,
  pins,
  view,
  faultWith,
  signal,
  ...before
}: Repair) {
  const open = faultyIn(faults, claims, pins);
  const rulings: Claim[] = [];
  const mended: Mended[] = [];
  const failures: UserError[] = [];
  let [done, calls, isOver] = [0, 0, before.isOver];
  for (const one of open.slice(0, mostClaims)) {
    try {
      const outcome = await mend(one, {
        model,
        isOver,
        view,
        faultWith,
        signal,
        onCall: () => (calls += 1),
      });
      if (outcome === undefined) continue;
      done += 1;
      rulings.push(outcome.ruled);
      const { subject, kind, body } = one.claim;
      if (outcome.body !== null)
        mended.push({ subject, kind, reason: one.reason, from: body, to: outcome.body });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      signal.throwIfAborted();
      failures.push(error);
      isOver ||= isFatalToRun(error);
    }
  }
  return {
    rulings,
    mended,
    report:
      open.length === 0
        ? undefined
        : stageReport('repair', { total: open.length, done, calls }, failures),
  };
}

/** The claims behind the faults, as far as a model may mend them and has not tried. By id. */
function faultyIn(
  faults: readonly Quarantined[],
  claims: readonly Claim[],
  pins: readonly Pin[],
): Faulty[] {
  const found = faults.flatMap((fault): Faulty[] => {
    const kind = [...repairable].find((one) => one === fault.kind);
    if (kind === undefined || fault.isPassing === true || !parseSubject(fault.subject)) return [];
    const about = claims.filter(({ subject }) => subject === fault.subject);
    const ruled = applyModelDecisions(about, pins);
    const counted = about.flatMap((claim) => {
      const counts =
        claim.kind === kind && !isModelDecision(claim) ? ruled.effective(claim) : undefined;
      return counts === undefined ? [] : [{ claim, counted: counts, reason: fault.reason }];
    });
    const subject = { subject: fault.subject, kind };
    const { ranked } = rankClaims(
      counted.map((one) => one.counted),
      findPin(pins, subject),
      ruled.equivalent.get(subjectKindKey(subject)),
    );
    const meant = fault.claim ?? (ranked[0] && shortId(ranked[0]));
    const faulty = counted.find((one) => shortId(one.counted) === meant);
    const isOthers =
      faulty?.claim.evidence.some(({ origin }) => origin === 'person' || origin === 'catalog') ??
      true;
    const isTried = about.some(({ kind: own, body }) => {
      const { data } = bodySchemas.repaired.safeParse(body);
      return (
        own === 'repaired' &&
        faulty !== undefined &&
        data?.claim === shortId(faulty.claim) &&
        data.fault === markOf(fault.reason)
      );
    });
    return faulty === undefined || isOthers || isTried ? [] : [faulty];
  });
  const unique = new Map(found.map((one) => [shortId(one.claim), one]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

interface Mending extends Pick<Repair, 'model' | 'isOver' | 'view' | 'faultWith' | 'signal'> {
  readonly onCall: () => void;
}

/** Undefined where a model has to be asked and cannot be. */
async function mend(faulty: Faulty, { model, isOver, view, faultWith, signal, onCall }: Mending) {
  const { claim, reason } = faulty;
  const { kind, subject } = claim;
  const said = (body: Json) =>
    createModelDecision(extractor, subject, {
      kind: 'repaired',
      body: { claim: shortId(claim), kind, fault: markOf(reason), body },
    });
  const tries: { readonly body: string; readonly fault: string }[] = [];
  while (tries.length < mostTries) {
    signal.throwIfAborted();
    const key = `${extractor} ${shortHash(canonicalJson([shortId(claim), reason, tries]), 32)}`;
    let text = z.string().safeParse(model.journal.result(key)).data;
    if (text === undefined) {
      if (isOver) return undefined;
      onCall();
      const asked = { faulty, view, tries };
      text = (await ask(asked, { model, signal })).body;
      model.journal.keep(key, text);
    }
    const body = text.trim() === '' ? null : parsed(text);
    if (body === null) break;
    const fault = bodyFault(faulty, body) ?? (await faultWith(said(body), { subject, kind, body }));
    if (fault === undefined) return { body, ruled: said(body) };
    tries.push({ body: text, fault });
  }
  return { body: null, ruled: said(null) };
}

const answerSchema = z.object({
  body: z
    .string()
    .max(10_000)
    .describe('The corrected statement as JSON; empty where it cannot be told.'),
});

interface Asked {
  readonly faulty: Faulty;
  readonly view: FileTree;
  readonly tries: readonly object[];
}

function ask(
  { faulty: { claim, reason }, view, tries }: Asked,
  { model, signal }: Pick<Mending, 'model' | 'signal'>,
) {
  const { connection = '', dataset = '' } = parseSubject(claim.subject) ?? {};
  const folder = artifactPath(connection, '').slice(0, -'.yaml'.length);
  const names = [...view.keys()].flatMap((path) =>
    path.startsWith(folder) ? [path.slice(folder.length).replace(/\.ya?ml$/, '')] : [],
  );
  const picture = {
    subject: claim.subject,
    kind: claim.kind,
    body: claim.body,
    fault: reason,
    rests_on: claim.evidence.flatMap(({ quote }) => quote ?? []).slice(0, 5),
    tried_before: tries,
    file: (view.get(artifactPath(connection, dataset)) ?? '').slice(0, 12_000).toWellFormed(),
    other_datasets: names.filter((name) => name !== dataset).slice(0, 300),
  };
  return model.runtime.generateObject({
    role: 'repair',
    system: readPrompt('repair'),
    prompt: `The statement to mend:\n${untrustedBlock('statement', JSON.stringify(picture, null, 1))}`,
    schema: answerSchema,
    signal,
  });
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Why it is no mended form of the claim: another kind of thing, or one that means something else. */
function bodyFault({ claim: { kind, body } }: Faulty, mended: Json): string | undefined {
  const { error } = bodySchemas[kind].safeParse(mended);
  if (error) return `It is no ${kind}: ${z.prettifyError(error).split('\n')[0]}`;
  const isFree = kind !== 'metric' && kind !== 'relationship' && kind !== 'field';
  if (!hasSameForm(body, mended, { isFree }))
    return 'It has another form: only names and expressions may change.';
  const [before, after] = [body, mended].map((one) => canonicalJson(one));
  const lost = wordsOf(before ?? '').filter((word) => !wordsOf(after ?? '').includes(word));
  return lost.length === 0 ? undefined : `It leaves out ${lost.join(', ')}.`;
}

/** Keys whose texts are names or expressions. */
const mendable = new Set([
  'expr',
  'of',
  'where',
  'to',
  'on',
  'per',
  'numerator',
  'denominator',
  'over',
  'base',
]);

function hasSameForm(
  before: Json,
  after: Json,
  { isFree, key = '' }: { readonly isFree: boolean; readonly key?: string },
): boolean {
  if (typeof before === 'string' && typeof after === 'string') return isFree || before === after;
  if (isList(before)) {
    return (
      isList(after) &&
      before.length === after.length &&
      before.every((one, at) => hasSameForm(one, after[at] ?? null, { isFree }))
    );
  }
  if (!isMapping(before) || !isMapping(after))
    return canonicalJson(before) === canonicalJson(after);
  const [own, others] = [before, after].map((one) => Object.keys(one).sort());
  // The columns of a join are keys.
  if (key === 'on')
    return (
      own?.length === others?.length && Object.values(after).every((one) => typeof one === 'string')
    );
  const isSame = ([name, value]: [string, Json]) =>
    hasSameForm(value, after[name] ?? null, { isFree: isFree || mendable.has(name), key: name });
  return own?.join('\n') === others?.join('\n') && Object.entries(before).every(isSame);
}

/** What a statement counts by: its aggregates, its literals. */
function wordsOf(text: string): string[] {
  const calls = [
    ...text.toLowerCase().matchAll(/\b(sum|count|avg|min|max|median|distinct)\b(?=\s*[( ])/g),
  ].map(([word]) => word);
  return [...calls, ...(text.match(/'[^']*'|\b\d+(?:\.\d+)?\b/g) ?? [])];
}

function markOf(reason: string): string {
  return shortHash(reason, 12);
}
