import type { KtxToolSet } from '../llm/port/runtime.ts';
import type { CurateDesk } from './rule/curate/decisions-session.ts';
import type { ExtractDesk } from './extract/proposals-session.ts';
import type { ReconcileDesk } from './rule/reconcile/decisions-session.ts';

/**
 * The tools of each stage's loops over the desk that collects what a loop decides. `tools/` has them, in the one registry; whoever
 * starts an ingest hands them in. A desk checks each proposal at once and throws a `UserError` that names the nearest valid choice.
 */
export interface LoopTools {
  extract(desk: ExtractDesk, signal: AbortSignal): KtxToolSet;
  curate(desk: CurateDesk, signal: AbortSignal): KtxToolSet;
  reconcile(desk: ReconcileDesk, signal: AbortSignal): KtxToolSet;
}
