import type { State } from '../store/state.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { IngestEvent } from './event.ts';
import type { ReadingWorkers } from './extract/reading-stage.ts';
import { readWithModel } from './extract/read-with-model.ts';
import type { ProjectFindings, SourceFindings } from './fetch/findings.ts';
import type { IngestModel } from './model.ts';
import { readProjectFiles } from './publish/project-files.ts';
import { projectFolders } from './render/render.ts';
import { addDecisions } from './render/validate.ts';
import type { Quarantined, StageReport } from './report.ts';
import { decideOnClaims } from './decide/decide-on-claims.ts';
import { openSnapshot, type Snapshot } from './project-snapshot.ts';

interface ModelStagesContext {
  readonly dir: string;
  /** Undefined if none is configured: then the findings of code stay as they are. */
  readonly model: IngestModel | undefined;
  /** The sources whose items are read. */
  readonly asked: ReadonlySet<string>;
  /** True if items are read again that a model has read already. */
  readonly isAnew: boolean;
  readonly workers?: ReadingWorkers | undefined;
  readonly state: State;
  readonly open: (connection: string) => Promise<Warehouse>;
  readonly signal: AbortSignal;
  readonly emit: (event: IngestEvent) => void;
}

export interface ModelStagesResult {
  readonly findings: ProjectFindings;
  readonly stages: readonly StageReport[];
  /** What models refused to read, could not read, or left undecided. */
  readonly refused: readonly Quarantined[];
  /** True if no model call can succeed any more. */
  readonly isOver: boolean;
}

/**
 * Runs the stages that need a model: it reads what code cannot, then decides about the claims of
 * all sources.
 */
export async function runModelStages(
  findings: ProjectFindings,
  { model, ...context }: ModelStagesContext,
): Promise<ModelStagesResult> {
  if (model === undefined) return { findings, stages: [], refused: [], isOver: false };
  let opened: Promise<Snapshot> | undefined;
  const snapshot = () =>
    (opened ??= readProjectFiles(context.dir, projectFolders(findings)).then((files) =>
      openSnapshot(findings, files),
    ));
  const reading = await readWithModel({ ...context, findings, model, snapshot });
  const read = replaceSources(findings, reading.sources);
  // If the account or the budget is exhausted, the next stage asks nothing, but answers that were
  // paid for count.
  const { isOver } = reading;
  const decided = await decideOnClaims(read, { ...context, model, snapshot, isOver });
  return {
    findings: addDecisions(read, decided.decisions),
    stages: [...reading.stages, ...decided.stages],
    refused: [...reading.refused, ...decided.refused],
    isOver: decided.isOver,
  };
}

/**
 * The findings with other sources; the same object if no source changed, so that equal findings are
 * rendered once.
 */
function replaceSources(
  findings: ProjectFindings,
  sources: readonly SourceFindings[],
): ProjectFindings {
  const isSame = sources.every((source, index) => source === findings.sources[index]);
  return isSame && sources.length === findings.sources.length ? findings : { ...findings, sources };
}
