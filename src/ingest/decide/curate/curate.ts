import { countRequests } from '../../../llm/count-requests.ts';
import { z } from 'zod';
import { bodySchemas } from '../../../context/claims/claim.ts';
import { shortHash } from '../../../lib/hash.ts';
import { canonicalJson } from '../../../lib/json.ts';
import {
  decidePage,
  type DecisionInput,
  decisionReport,
  type DecisionResult,
  openPages,
} from '../decision-loop.ts';
import { findCurationCandidates, type CurationCandidate, type CurationWiki } from './candidates.ts';
import {
  curationClaim,
  type CurationDecision,
  curationVersion,
  findDecisionFault,
  openCurationSession,
} from './curation-session.ts';

/** Candidates of one loop. */
const candidatesPerPage = 20;

/**
 * A model decides where each new term and rule belongs: on a page, in another entry that is the
 * same, or nowhere. Candidates are decided page by page, in the order of their ids. Undecided ones
 * wait for the next run.
 */
export async function curate(input: DecisionInput): Promise<DecisionResult> {
  const { claims, pins, emit, signal } = input;
  const { model, requests } = countRequests(input.model);
  const { journal } = model;
  const wiki = findCurationCandidates(claims, pins);
  const { candidates } = wiki;
  if (candidates.length === 0) return { decisions: [], refused: [], isOver: input.isOver };
  const decisions = new Map<CurationCandidate, CurationDecision>();
  for (const candidate of candidates) {
    const earlier = parseJournaled(wiki, candidate, journal.result(curationKey(candidate)));
    if (earlier !== undefined) decisions.set(candidate, earlier);
  }
  let { isOver } = input;
  const isOpen = (candidate: CurationCandidate) => !decisions.has(candidate);
  const pages = openPages(candidates.filter(isOpen), {
    stage: 'curate',
    size: candidatesPerPage,
    nameOf: ({ title }) => title,
    keyOf: curationKey,
    model,
    isAnew: input.isAnew,
  });
  const isAsked = pages.hasPages;
  for (let page = pages.next(); page !== undefined && !isOver; page = pages.next()) {
    const session = openCurationSession({
      wiki,
      page,
      save: (candidate, decision) => journal.keep(curationKey(candidate), decision),
      snapshot: await input.snapshot(),
    });
    const ended = await decidePage({
      model,
      role: 'curator',
      stage: 'curate',
      waiting: page.length,
      toolSet: model.tools.curate(session, signal),
      onStepFinish: (step) => emit({ type: 'curate_step', ...step }),
      signal,
    });
    for (const [candidate, decision] of session.decisions()) decisions.set(candidate, decision);
    pages.end({ ...ended, page, rest: page.filter(isOpen) });
    isOver ||= ended.isOver;
  }
  const counts = { total: candidates.length, done: decisions.size, calls: requests() };
  return {
    decisions: candidates.flatMap((candidate) => {
      const decision = decisions.get(candidate);
      return decision === undefined ? [] : [curationClaim(candidate, decision)];
    }),
    report:
      isAsked || decisions.size > 0 ? decisionReport('curate', counts, pages.failures) : undefined,
    refused: pages.refused,
    isOver,
  };
}

/** Changes with the claims about the candidate. */
function curationKey({ subject, claims }: CurationCandidate): string {
  return `${curationVersion} ${shortHash(canonicalJson([subject, claims]), 32)}`;
}

const journaledDecisionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('page'), body: bodySchemas.page }),
  z.object({ kind: z.literal('same_as'), body: bodySchemas.same_as }),
  z.object({ kind: z.literal('rejected'), body: bodySchemas.rejected }),
]);

/** The decision of a run that did not publish it; undefined if it is no longer possible. */
function parseJournaled(
  wiki: CurationWiki,
  candidate: CurationCandidate,
  stored: unknown,
): CurationDecision | undefined {
  const { data } = journaledDecisionSchema.safeParse(stored);
  if (data === undefined || findDecisionFault(wiki, candidate, data) !== undefined)
    return undefined;
  return data;
}
