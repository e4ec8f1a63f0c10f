import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { parseWikiSubject } from '../../context/claims/subject.ts';
import { itemPath } from '../../sources/source.ts';
import type { State } from '../../store/state.ts';
import type { Warehouse } from '../../warehouse/warehouse.ts';
import type { ProjectFindings } from '../fetch/findings.ts';
import { readProjectFiles } from '../publish/project-files.ts';
import { applyWrites } from '../publish/rendering.ts';
import { projectFolders, renderProject } from '../render/render.ts';
import type { StageReport } from '../report.ts';
import { compareForModel } from './reconcile/compare-for-model.ts';
import { compareVersions } from './compare-metrics.ts';
import { curate } from './curate/curate.ts';
import type { DecisionInput, DecisionResult } from './decision-loop.ts';
import { reconcile } from './reconcile/reconcile.ts';

interface DecideOptions extends Omit<DecisionInput, 'claims' | 'pins'> {
  /** The folder of the project. */
  readonly dir: string;
  readonly state: State;
  /** Opens a warehouse by its connection. */
  readonly open: (connection: string) => Promise<Warehouse>;
}

/**
 * A model decides about the claims of all sources: first where terms and rules belong, then which
 * of the remaining conflicts are only different words. Both work on the project as it was when the
 * run began, in the order of claim ids, so that the order of the sources does not matter.
 */
export async function decideOnClaims(
  findings: ProjectFindings,
  { dir, isOver, state, open, ...shared }: DecideOptions,
): Promise<Omit<DecisionResult, 'report'> & { readonly stages: readonly StageReport[] }> {
  const { signal } = shared;
  const files = await readProjectFiles(dir, projectFolders(findings));
  const input = { ...shared, pins: parsePins(files.get(pinsPath)).pins };
  const before = renderProject(findings, files);
  const wikiClaims = before.claims.filter(({ subject }) => parseWikiSubject(subject) !== undefined);
  const curated = await curate({ ...input, isOver, claims: wikiClaims });
  const after =
    curated.decisions.length === 0
      ? before
      : renderProject({ ...findings, decisions: curated.decisions }, files);
  const filesAfter = applyWrites(files, after.writes);
  const itemTexts = new Map(
    findings.sources.flatMap(({ connection, items }) =>
      items.map(({ path, body }) => [itemPath(connection, path), body]),
    ),
  );
  const reconciled = await reconcile({
    ...input,
    isOver: curated.isOver,
    claims: after.claims,
    conflicts: after.conflicts,
    async compare(conflict) {
      const context = { files: filesAfter, state, open, signal };
      const numbers = await compareVersions(conflict, context);
      const snapshot = await input.snapshot();
      // A dataset with row rules has no number to show.
      const aggregated = { snapshot, state, signal, send: input.model.send, check: async () => {} };
      return compareForModel(conflict, numbers, aggregated);
    },
    itemText: (path) => itemTexts.get(path),
  });
  return {
    decisions: [...curated.decisions, ...reconciled.decisions],
    stages: [curated.report, reconciled.report].filter((report) => report !== undefined),
    refused: [...curated.refused, ...reconciled.refused],
    isOver: reconciled.isOver,
  };
}
