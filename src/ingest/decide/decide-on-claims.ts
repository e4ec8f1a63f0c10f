import type { Claim } from '../../context/claims/claim.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { parseWikiSubject } from '../../context/claims/subject.ts';
import { itemPath } from '../../sources/source.ts';
import type { State } from '../../store/state.ts';
import type { Warehouse } from '../../warehouse/warehouse.ts';
import { compareVersions } from './compare-metrics.ts';
import { curate } from './curate/curate.ts';
import type { IngestEvent } from '../event.ts';
import type { StageReport } from '../report.ts';
import type { ProjectFindings } from '../fetch/findings.ts';
import type { IngestModel } from '../model.ts';
import { readProjectFiles } from '../publish/project-files.ts';
import { finalTexts } from '../publish/rendering.ts';
import { reconcile } from './reconcile/reconcile.ts';
import { projectFolders, renderProject } from '../render/render.ts';
import type { Snapshot } from '../project-snapshot.ts';

interface Ruling {
  readonly dir: string;
  readonly model: IngestModel;
  readonly snapshot: () => Promise<Snapshot>;
  /** No call can succeed any more. */
  readonly isOver: boolean;
  readonly state: State;
  readonly open: (connection: string) => Promise<Warehouse>;
  readonly emit: (event: IngestEvent) => void;
  readonly signal: AbortSignal;
}

/**
 * What a model rules about the claims of all sources: first where terms and rules belong, then which of the conflicts that are left
 * then are none. Both work on the state of the run's start, in the order of claim ids, so that no order of the sources matters.
 */
export async function ruleOnClaims(
  findings: ProjectFindings,
  { dir, model, snapshot, isOver, state, open, emit, signal }: Ruling,
) {
  const files = await readProjectFiles(dir, projectFolders(findings));
  const { pins } = parsePins(files.get(pinsPath));
  const stage = { model, pins, snapshot, emit, signal };
  const first = renderProject(findings, files);
  const curated = await curate({
    ...stage,
    isOver,
    claims: first.claims.filter(({ subject }) => parseWikiSubject(subject) !== undefined),
  });
  const placed =
    curated.rulings.length === 0
      ? first
      : renderProject({ ...findings, decisions: curated.rulings }, files);
  const view = new Map(
    [...files, ...finalTexts(placed.writes)].flatMap(([path, text]) =>
      text === undefined ? [] : [[path, text]],
    ),
  );
  const bodies = new Map(
    findings.sources.flatMap(({ connection, items }) =>
      items.map(({ path, body }) => [itemPath(connection, path), body]),
    ),
  );
  const reconciled = await reconcile({
    ...stage,
    isOver: curated.isOver,
    claims: placed.claims,
    conflicts: placed.conflicts,
    compare: (conflict) => compareVersions(conflict, { files: view, state, open, signal }),
    textOf: (path) => bodies.get(path),
  });
  const rulings: readonly Claim[] = [...curated.rulings, ...reconciled.rulings];
  const stages = [curated.report, reconciled.report].flatMap((report): StageReport[] =>
    report ? [report] : [],
  );
  return { rulings, stages, isOver: reconciled.isOver };
}
