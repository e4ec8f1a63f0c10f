import type { LinkFinding } from '../../context/catalog/catalog.ts';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { countRequests } from '../../llm/count-requests.ts';
import { isContextTooLong, LlmError } from '../../llm/port/error.ts';
import { tableKey } from '../../sql/dialect.ts';
import type { TableFacts } from '../facts/table-facts.ts';
import type { ScanContext } from '../scan-context.ts';
import {
  askLinkJudge,
  linkJudge,
  type LinkProposal,
  type LinkVerdict,
  qualifiedName,
  linkProposalsSchema,
  linkVerdictSchema,
} from './ask-link-judge.ts';
import { confirmProposals } from './confirm-proposals.ts';
import type { ScanModel } from './scan-model.ts';

export interface LinkJudgements {
  readonly links: readonly LinkFinding[];
  /** Number of links in doubt, and how many of them have a verdict. */
  readonly total: number;
  readonly done: number;
  readonly calls: number;
  readonly failure?: UserError | undefined;
}

const linksPerCall = 40;
/** How many proposals of one answer are considered; each is measured. */
const maxProposals = 100;
/** The measured containment that a candidate needs before a yes of the model counts. */
const minContainment = 0.9;

interface JudgeContext extends ScanContext {
  /** If undefined, earlier decisions stay, and nothing is asked. */
  readonly model: ScanModel | undefined;
  /** The links that a model accepted in earlier scans, from the claims in git. */
  readonly decided: readonly LinkEnds[];
}

type LinkEnds = Pick<LinkFinding, 'from' | 'to'>;

/**
 * A model judges the links that measurements leave in doubt, each once, and may propose other
 * links. Proposals count only if measurements confirm them.
 */
export async function judgeLinks(
  links: readonly LinkFinding[],
  facts: () => readonly TableFacts[],
  context: JudgeContext,
): Promise<LinkJudgements> {
  const inDoubt = links
    .filter(isInDoubt)
    .map((link) => ({ link, key: verdictKey(link, context.warehouse.connection) }));
  const verdicts = storedVerdicts(inDoubt, context);
  const session: JudgeSession = { verdicts, proposals: storedProposals(links, context) };
  const open = inDoubt.filter(({ link }) => verdicts.get(link) === undefined);
  const counted = context.model && countRequests(context.model);
  if (counted !== undefined)
    await askAboutLinks(open, session, { ...context, model: counted.model, facts });
  const judged = links.map((link) => applyVerdict(link, verdicts.get(link)));
  const proposed = await confirmProposals(session.proposals, facts, context);
  return {
    links: [...judged, ...withoutConflicts(proposed, judged)],
    total: inDoubt.length,
    done: [...verdicts.values()].filter((verdict) => verdict !== undefined).length,
    calls: counted?.requests() ?? 0,
    failure: session.failure,
  };
}

interface OpenLink {
  readonly link: LinkFinding;
  /** The key of the verdict in the journal. */
  readonly key: string;
}

type LinkVerdicts = Map<LinkFinding, LinkVerdict | undefined>;

/** What the calls of one scan collect. */
interface JudgeSession {
  readonly verdicts: LinkVerdicts;
  proposals: readonly LinkProposal[];
  failure?: UserError | undefined;
}

const isInDoubt = ({ status, origin, evidence }: LinkFinding): boolean =>
  status === 'review' &&
  origin === 'inferred' &&
  !JSON.stringify(evidence['why'] ?? '').startsWith('"polymorphic');

/**
 * Changes with the columns and with coarse steps of the evidence, so that a day's new rows do not
 * cause new calls.
 */
function verdictKey({ from, to, evidence }: LinkFinding, connection: string): string {
  const containment = Number(evidence['containment'] ?? 0);
  const partial = containment >= minContainment ? 'most' : 'some';
  const step = containment >= 1 ? 'all' : partial;
  return `${linkJudge} ${shortHash(canonicalJson([connection, from, to, evidence['measured'] ?? null, step]), 32)}`;
}

const acceptedEarlier: LinkVerdict = { joins: true, reason: 'in an earlier run' };

function storedVerdicts(
  links: readonly OpenLink[],
  { model, decided }: JudgeContext,
): LinkVerdicts {
  const accepted = new Set(decided.map(linkKey));
  return new Map(
    links.map(({ link, key }) => {
      const verdict = linkVerdictSchema.safeParse(model?.journal.result(key)).data;
      // Git counts before this machine's journal: otherwise two people whose models disagree would
      // undo each other's joins.
      const isOverruled = accepted.has(linkKey(link)) && verdict?.joins !== true;
      return [link, isOverruled ? acceptedEarlier : verdict] as const;
    }),
  );
}

/**
 * Links that a model proposed: accepted ones from git that this scan did not find, and those in the
 * journal.
 */
function storedProposals(
  links: readonly LinkFinding[],
  { model, decided, warehouse }: JudgeContext,
): LinkProposal[] {
  const found = new Set(links.filter(({ status }) => status !== 'rejected').map(linkKey));
  const missing = decided.filter((link) => !found.has(linkKey(link)));
  const stored = model?.journal.result(proposalsKey(warehouse.connection));
  return [...missing.map(linkProposal), ...(linkProposalsSchema.safeParse(stored).data ?? [])];
}

const proposalsKey = (connection: string): string => `${linkJudge} proposals ${connection}`;

function linkProposal({ from, to }: LinkEnds): LinkProposal {
  return {
    from_table: qualifiedName(from.table),
    from_columns: [...from.columns],
    to_table: qualifiedName(to.table),
    to_columns: [...to.columns],
  };
}

type AskContext = ScanContext & {
  readonly model: ScanModel;
  readonly facts: () => readonly TableFacts[];
};

/**
 * Asks in batches until one fails; the failure is kept in the session. A batch that is too long for
 * the model is halved.
 */
async function askAboutLinks(
  links: readonly OpenLink[],
  session: JudgeSession,
  context: AskContext,
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(links.length / linksPerCall) }, (_, index) =>
    links.slice(index * linksPerCall, (index + 1) * linksPerCall),
  );
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
    if (session.failure !== undefined) return;
    try {
      await askAboutBatch(batch, session, context);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      context.signal.throwIfAborted();
      const middle = Math.ceil(batch.length / 2);
      if (isContextTooLong(error) && batch.length > 1)
        batches.unshift(batch.slice(0, middle), batch.slice(middle));
      else session.failure = error;
    }
  }
}

async function askAboutBatch(
  batch: readonly OpenLink[],
  session: JudgeSession,
  context: AskContext,
): Promise<void> {
  const { journal } = context.model;
  const answer = await askLinkJudge(
    batch.map(({ link }) => link),
    context.facts(),
    context,
  );
  const verdicts = batch.flatMap(({ link, key }, index) => {
    const found = answer.verdicts.find(({ id }) => id === index + 1);
    if (found === undefined) return [];
    return [{ link, key, verdict: { joins: found.joins, reason: found.reason } }];
  });
  const proposed = answer.proposals.slice(0, maxProposals);
  const distinct = new Map(
    [...session.proposals, ...proposed].map((proposal) => [canonicalJson(proposal), proposal]),
  );
  session.proposals = [...distinct.values()];
  for (const { link, verdict } of verdicts) session.verdicts.set(link, verdict);
  if (verdicts.length < batch.length) session.failure = missingVerdicts;
  // The answer was paid for, so it counts even if the journal cannot store it; after such a failure
  // nothing more is asked.
  for (const { key, verdict } of verdicts) journal.keep(key, verdict);
  if (proposed.length > 0)
    journal.keep(proposalsKey(context.warehouse.connection), [...session.proposals]);
}

const missingVerdicts = new LlmError(
  'invalid_output',
  'The model left candidates for relationships without a verdict.',
);

/** A yes counts unless the values contradict it; a no always counts. */
function applyVerdict(link: LinkFinding, verdict: LinkVerdict | undefined): LinkFinding {
  if (verdict === undefined) return link;
  const { measured, containment, rows } = link.evidence;
  const isSupported = rows === 0 || (measured === true && Number(containment) >= minContainment);
  const why = `a model says ${verdict.joins ? 'yes' : 'no'}: ${shortLine(verdict.reason)}`;
  const statusOfYes = isSupported ? 'accepted' : 'review';
  const status = verdict.joins ? statusOfYes : 'rejected';
  return { ...link, origin: 'judged', status, evidence: { ...link.evidence, why } };
}

const shortLine = (text: string): string =>
  text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 200);

const columnsKey = ({ table, columns }: LinkEnds['from']): string =>
  canonicalJson([tableKey(table), [...columns]]);
const linkKey = ({ from, to }: LinkEnds): string => columnsKey(from) + columnsKey(to);

/**
 * Drops proposals that a verdict already decides, and proposals for columns that have an accepted
 * link.
 */
function withoutConflicts(
  proposed: readonly LinkFinding[],
  judged: readonly LinkFinding[],
): LinkFinding[] {
  const decided = new Set(
    judged.flatMap((link) => (link.origin === 'judged' ? [linkKey(link)] : [])),
  );
  const columnsWithLink = new Set(
    judged.flatMap(({ status, from }) => (status === 'accepted' ? [columnsKey(from)] : [])),
  );
  return proposed.filter((link) => {
    const isNew = !decided.has(linkKey(link)) && !columnsWithLink.has(columnsKey(link.from));
    if (isNew) columnsWithLink.add(columnsKey(link.from));
    return isNew;
  });
}
