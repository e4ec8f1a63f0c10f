import type { State } from '../store/state.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { IngestEvent } from './event.ts';
import type { Quarantined, StageReport } from './report.ts';
import { readWithModel } from './extract/read-with-model.ts';
import type { ProjectFindings } from './fetch/findings.ts';
import type { IngestModel } from './model.ts';
import { readProjectFiles } from './publish/project-files.ts';
import { projectFolders } from './render/render.ts';
import { ruleOnClaims } from './decide/decide-on-claims.ts';
import { openSnapshot, type Snapshot } from './project-snapshot.ts';

interface ModelRun {
  readonly dir: string;
  /** Undefined where none is configured: then everything stays as code found it. */
  readonly model: IngestModel | undefined;
  /** Sources whose items are read. */
  readonly asked: ReadonlySet<string>;
  /** Reads again what is read already. */
  readonly isAnew: boolean;
  readonly state: State;
  readonly open: (connection: string) => Promise<Warehouse>;
  readonly signal: AbortSignal;
  readonly emit: (event: IngestEvent) => void;
}

/** The stages that need a model, in their order: what is known then, and what became of each. */
export async function runModelStages(
  findings: ProjectFindings,
  { model, ...run }: ModelRun,
): Promise<{
  readonly findings: ProjectFindings;
  readonly stages: readonly StageReport[];
  readonly refused: readonly Quarantined[];
  readonly isOver: boolean;
}> {
  if (model === undefined) return { findings, stages: [], refused: [], isOver: false };
  let opened: Promise<Snapshot> | undefined;
  const snapshot = () =>
    (opened ??= readProjectFiles(run.dir, projectFolders(findings)).then((files) =>
      openSnapshot(findings, files),
    ));
  const { sources, stages, refused, isOver } = await readWithModel({
    ...run,
    findings,
    model,
    snapshot,
  });
  const read = { ...findings, sources };
  // Where the account or the money is gone, the next stages ask nothing; what they have paid for counts.
  const ruled = await ruleOnClaims(read, { ...run, model, snapshot, isOver });
  return {
    findings: { ...read, decisions: ruled.rulings },
    stages: [...stages, ...ruled.stages],
    refused,
    isOver: ruled.isOver,
  };
}
