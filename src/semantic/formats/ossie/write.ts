import { stringify } from 'yaml';
import { isRecord } from '../../../lib/json.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Misfit } from '../imported-model.ts';
import { ossieVersion } from './schema.ts';
import { writeModel } from './write-model.ts';

interface OssieExport {
  /** YAML that the published schema accepts. */
  readonly text: string;
  /** What other tools will not see. */
  readonly misfits: readonly Misfit[];
}

/**
 * Writes datasets as Apache Ossie. `name` is the model of datasets that came from no Ossie model.
 * Runs inside `withAnalyzer`.
 */
export function writeOssie(
  datasets: readonly Dataset[],
  { dialect, name }: { readonly dialect: Dialect; readonly name: string },
): OssieExport {
  const byModel = Map.groupBy(datasets, (dataset) => importedModelName(dataset) ?? name);
  const models = [...byModel].map(([model, own]) => writeModel(own, { dialect, name: model }));
  const document = { version: ossieVersion, semantic_model: models.map(({ model }) => model) };
  return {
    text: stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }),
    misfits: models.flatMap(({ misfits }) => misfits),
  };
}

/** The Ossie model that a dataset was imported from. */
function importedModelName({ extensions }: Dataset): string | undefined {
  const header = extensions?.['ossie_model'];
  return isRecord(header) && typeof header['name'] === 'string' ? header['name'] : undefined;
}
