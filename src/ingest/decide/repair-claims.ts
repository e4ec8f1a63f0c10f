import { z } from 'zod';
import { bodySchemas, shortId, type Claim, type ClaimKind } from '../../context/claims/claim.ts';
import {
  applyModelDecisions,
  createModelDecision,
  isModelDecision,
  subjectKindKey,
} from '../../context/claims/model-decisions.ts';
import { findPin, type Pin } from '../../context/claims/pins.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { rankClaims } from '../../context/compile/claim-precedence.ts';
import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { noValues } from '../../llm/egress/sent-values.ts';
import { countRequests } from '../../llm/count-requests.ts';
import { isFatalToRun } from '../../llm/port/error.ts';
import { readPrompt } from '../../llm/prompt.ts';
import { messageForModel } from '../extract/proposals/message-for-model.ts';
import type { IngestModel } from '../model.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { Mended, Quarantined, StageReport } from '../report.ts';
import { decisionReport } from './decision-loop.ts';
import { findBodyFault } from './find-body-fault.ts';

/** Raise it when the prompt changes: then claims that could not be repaired are tried once more. */
const repairVersion = 'repair@1';
const mostTries = 2;
/** In one run; the others wait for the next. */
const mostRepairs = 100;

const repairableKinds: ReadonlySet<string> = new Set<ClaimKind>([
  'metric',
  'field',
  'relationship',
  'primary_key',
  'unique_key',
  'default_time',
]);

interface RepairInput {
  readonly model: IngestModel;
  /** No further call can succeed. Repairs in the journal still count. */
  readonly isOver: boolean;
  /** What failed a check. */
  readonly faults: readonly Quarantined[];
  /** All claims in their original form, and the decisions about them. */
  readonly claims: readonly Claim[];
  readonly pins: readonly Pin[];
  /** The files as the run would publish them. */
  readonly view: FileTree;
  /**
   * Checks a repaired claim, with the decision that repairs it in place. Gives the fault; undefined
   * if it passes.
   */
  readonly faultWith: (
    decision: Claim,
    repaired: Omit<Claim, 'evidence'>,
  ) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

interface RepairResult {
  readonly decisions: readonly Claim[];
  readonly mended: readonly Mended[];
  /** Undefined if there was nothing to repair. */
  readonly report: StageReport | undefined;
}

/**
 * Asks a model to repair claims of code and models that failed a check, at most twice each. A
 * repair counts only if it passes the same check. A claim that could not be repaired is recorded,
 * and not tried again until the claim or its fault changes.
 */
export async function repairClaims(input: RepairInput): Promise<RepairResult> {
  const faulty = findFaultyClaims(input);
  const { model, requests } = countRequests(input.model);
  const decisions: Claim[] = [];
  const mended: Mended[] = [];
  const failures: UserError[] = [];
  let [done, isOver] = [0, input.isOver];
  for (const claim of faulty.slice(0, mostRepairs)) {
    try {
      const repair = await repairClaim(claim, { ...input, model, isOver });
      if (repair === undefined) continue;
      done += 1;
      decisions.push(repair.decision);
      const { subject, kind, body } = claim.original;
      if (repair.body !== null)
        mended.push({ subject, kind, reason: claim.reason, from: body, to: repair.body });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      input.signal.throwIfAborted();
      failures.push(error);
      isOver ||= isFatalToRun(error);
    }
  }
  const counts = { total: faulty.length, done, calls: requests() };
  const report = faulty.length === 0 ? undefined : decisionReport('repair', counts, failures);
  return { decisions, mended, report };
}

interface FaultyClaim {
  readonly original: Claim;
  /** The claim after the decisions about it. */
  readonly effective: Claim;
  readonly reason: string;
}

/** The claims behind the faults that a model may repair and has not tried, sorted by id. */
function findFaultyClaims(input: RepairInput): FaultyClaim[] {
  const found = input.faults.flatMap((fault) => findFaultyClaim(fault, input) ?? []);
  const unique = new Map(found.map((faulty) => [shortId(faulty.original), faulty]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, faulty]) => faulty);
}

function findFaultyClaim(
  { subject, kind, reason, claim, isPassing }: Quarantined,
  { claims, pins }: RepairInput,
): FaultyClaim | undefined {
  if (!repairableKinds.has(kind) || isPassing === true || !parseSubject(subject)) return undefined;
  const about = claims.filter((own) => own.subject === subject);
  const decided = applyModelDecisions(about, pins);
  const candidates = about.flatMap((original) => {
    const isStatement = original.kind === kind && !isModelDecision(original);
    const effective = isStatement ? decided.effective(original) : undefined;
    return effective === undefined ? [] : [{ original, effective, reason }];
  });
  const { ranked } = rankClaims(
    candidates.map(({ effective }) => effective),
    {
      pin: findPin(pins, { subject, kind }),
      equivalent: decided.equivalent.get(subjectKindKey({ subject, kind })),
    },
  );
  const faultyId = claim ?? (ranked[0] && shortId(ranked[0]));
  const faulty = candidates.find(({ effective }) => shortId(effective) === faultyId);
  if (faulty === undefined || isProtected(faulty.original)) return undefined;
  return about.some((own) => isTriedBefore(own, faulty)) ? undefined : faulty;
}

/** Claims of people and of the warehouse itself are never repaired. */
function isProtected({ evidence }: Claim): boolean {
  return evidence.some(({ origin }) => origin === 'person' || origin === 'catalog');
}

function isTriedBefore({ kind, body }: Claim, { original, reason }: FaultyClaim): boolean {
  const { data } = bodySchemas.repaired.safeParse(body);
  return (
    kind === 'repaired' && data?.claim === shortId(original) && data.fault === faultHash(reason)
  );
}

function faultHash(reason: string): string {
  return shortHash(reason, 12);
}

interface RepairTry {
  /** The answer of the model. */
  readonly body: string;
  readonly fault: string;
}

/**
 * The repaired body, or null if there is none. Undefined if a call is needed and no call can
 * succeed.
 */
async function repairClaim(
  faulty: FaultyClaim,
  context: RepairInput,
): Promise<{ readonly body: Json; readonly decision: Claim } | undefined> {
  const { original, reason } = faulty;
  const { kind, subject } = original;
  const decisionFor = (body: Json) =>
    createModelDecision(repairVersion, subject, {
      kind: 'repaired',
      body: { claim: shortId(original), kind, fault: faultHash(reason), body },
    });
  const tries: RepairTry[] = [];
  while (tries.length < mostTries) {
    context.signal.throwIfAborted();
    const answer = await proposeRepair(faulty, tries, context);
    if (answer === undefined) return undefined;
    if (answer.trim() === '') break;
    const body = parseAnswer(answer);
    if (body === null) break;
    const decision = decisionFor(body);
    const fault =
      findBodyFault(original, body) ?? (await context.faultWith(decision, { subject, kind, body }));
    if (fault === undefined) return { body, decision };
    tries.push({ body: answer, fault });
  }
  return { body: null, decision: decisionFor(null) };
}

/** The model's answer, from the journal if it is there. Undefined if no call can succeed. */
async function proposeRepair(
  faulty: FaultyClaim,
  tries: readonly RepairTry[],
  { model, isOver, view, signal }: RepairInput,
): Promise<string | undefined> {
  const identity = [shortId(faulty.original), faulty.reason, tries];
  const key = `${repairVersion} ${shortHash(canonicalJson(identity), 32)}`;
  const stored = z.string().safeParse(model.journal.result(key)).data;
  if (stored !== undefined) return stored;
  if (isOver) return undefined;
  const { body } = await model.runtime.generateObject({
    role: 'repair',
    stage: 'repair',
    values: noValues,
    system: readPrompt('repair'),
    prompt: `The statement to mend:\n${describeFault(faulty, tries, view)}`,
    schema: repairAnswerSchema,
    signal,
  });
  model.journal.keep(key, body);
  return body;
}

const repairAnswerSchema = z.object({
  body: z
    .string()
    .max(10_000)
    .describe('The corrected statement as JSON; empty where it cannot be told.'),
});

function describeFault(
  { original, reason }: FaultyClaim,
  tries: readonly RepairTry[],
  files: FileTree,
): string {
  const { subject, kind, body, evidence } = original;
  const { connection = '', dataset = '' } = parseSubject(subject) ?? {};
  const folder = artifactPath(connection, '').slice(0, -'.yaml'.length);
  const datasets = [...files.keys()]
    .filter((path) => path.startsWith(folder))
    .map((path) => path.slice(folder.length).replace(/\.ya?ml$/, ''));
  const file = (files.get(artifactPath(connection, dataset)) ?? '').slice(0, 12_000).toWellFormed();
  const known = [file, ...Object.values(Object(body) as object), ...datasets].join(' ');
  const description = {
    subject,
    kind,
    body,
    fault: messageForModel(reason, known),
    rests_on: evidence.flatMap(({ quote }) => quote ?? []).slice(0, 5),
    tried_before: tries.map((tried) => ({
      ...tried,
      fault: messageForModel(tried.fault, `${known} ${tried.body}`),
    })),
    file,
    other_datasets: datasets.filter((name) => name !== dataset).slice(0, 300),
  };
  return untrustedBlock('statement', JSON.stringify(description, null, 1));
}

/** An answer that is not JSON is text, such as the name of a field. */
function parseAnswer(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
