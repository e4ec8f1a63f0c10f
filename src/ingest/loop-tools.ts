import type { KtxToolSet } from '../llm/port/runtime.ts';
import type { CurationSession } from './decide/curate/curation-session.ts';
import type { ProposalsSession } from './extract/proposals/proposals-session.ts';
import type { ReconciliationSession } from './decide/reconcile/reconciliation-session.ts';

/**
 * The tools of each stage's loops, built on the session that collects what a loop decides. The
 * registry in `tools/` has them; whoever starts an ingest passes them in. A session checks each
 * proposal at once and throws a `UserError` that names the nearest valid choice.
 */
export interface LoopTools {
  extract(session: ProposalsSession, signal: AbortSignal): KtxToolSet;
  curate(session: CurationSession, signal: AbortSignal): KtxToolSet;
  reconcile(session: ReconciliationSession, signal: AbortSignal): KtxToolSet;
}
