import type { LoopTool } from './loop-tool.ts';
import { aggregateTool } from './loops/aggregate-rows.ts';
import { curateTools } from './loops/curate.ts';
import { skillTool } from './loops/load-skill.ts';
import { proposeTools } from './loops/propose.ts';
import { unitTools } from './loops/read-item.ts';
import { projectTools } from './loops/read-project.ts';
import { usageTool } from './loops/read-usage.ts';
import { reconcileTools } from './loops/reconcile.ts';
import type { CurationSession } from '../ingest/decide/curate/curation-session.ts';
import type { ProposalsSession } from '../ingest/extract/proposals/proposals-session.ts';
import type { ReconciliationSession } from '../ingest/decide/reconcile/reconciliation-session.ts';

interface LoopRegistry {
  readonly extract: readonly LoopTool<ProposalsSession>[];
  readonly curate: readonly LoopTool<CurationSession>[];
  readonly reconcile: readonly LoopTool<ReconciliationSession>[];
}

/** The tools in the loops of an ingest, by stage. */
export const loopRegistry: LoopRegistry = {
  extract: [
    ...unitTools,
    ...projectTools,
    usageTool,
    aggregateTool,
    skillTool('extract'),
    ...proposeTools,
  ],
  curate: [
    ...curateTools,
    ...projectTools.filter(({ name }) => ['search_context', 'read_page'].includes(name)),
    skillTool('curate'),
  ],
  reconcile: [
    ...reconcileTools,
    ...projectTools.filter(({ name }) => ['read_dataset', 'entity_details'].includes(name)),
    usageTool,
    skillTool('reconcile'),
  ],
};
