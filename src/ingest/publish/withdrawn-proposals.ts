import { parseDatasetFile } from '../../context/merge/merge-dataset.ts';
import { isList, isMapping } from '../../context/merge/yaml-text.ts';
import type { Json } from '../../lib/json.ts';
import type { IngestReport, Quarantined, WithdrawnProposal } from '../report.ts';
import type { FileTree } from './project-files.ts';

/**
 * The metrics that nobody had accepted, which a run took out of the dataset files that it changed.
 * They are no fault: a source defines metrics, or their column is gone. `before` are the files on
 * disk; what the report names as left out is not named again.
 */
export function listWithdrawn(
  {
    files: { changed },
    filesAfter,
  }: Pick<IngestReport, 'files'> & { readonly filesAfter: FileTree },
  before: FileTree,
  quarantined: readonly Quarantined[],
): readonly WithdrawnProposal[] {
  const isNamed = (metric: string) =>
    quarantined.some(({ subject }) => subject.endsWith(`.${metric}`));
  return changed.flatMap((at) => {
    const [, dataset] = /^semantic-layer\/[^/]+\/([^/]+)\.yaml$/.exec(at) ?? [];
    if (dataset === undefined) return [];
    const [old, current] = [before, filesAfter].map((tree) => readEntries(tree.get(at) ?? ''));
    const fields = new Set(current?.fields.map(({ name }) => name));
    const standing = new Set(current?.metrics.map(({ name }) => name));
    return (old?.metrics ?? [])
      .filter(({ name, unreviewed }) => unreviewed === true && !standing.has(name))
      .map(({ name, of }): WithdrawnProposal => {
        const isGone = typeof of === 'string' && /^\w+$/.test(of) && !fields.has(of);
        const why = isGone
          ? `${of} is gone`
          : 'nobody had accepted it, and a source defines metrics now';
        return { metric: `${dataset}.${name}`, at, why };
      })
      .filter(({ metric }) => !isNamed(metric));
  });
}

function readEntries(text: string) {
  const parsed = parseDatasetFile(text);
  const entriesOf = (list: 'fields' | 'metrics') => {
    const value = 'mapping' in parsed ? parsed.mapping[list] : undefined;
    return isList(value)
      ? value
          .filter(isMapping)
          .map(({ name, of, unreviewed }) => ({ name: textOf(name), of, unreviewed }))
      : [];
  };
  return { fields: entriesOf('fields'), metrics: entriesOf('metrics') };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
