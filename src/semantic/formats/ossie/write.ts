import { stringify } from 'yaml';
import type { Dialect } from '../../../sql/dialect.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Misfit } from '../imported-model.ts';
import { isEntry } from '../patch.ts';
import { ossieVersion } from './schema.ts';
import { writtenModel } from './write-model.ts';

interface Exported {
  /** YAML that the published schema accepts. */
  readonly text: string;
  /** What other tools will not see. */
  readonly misfits: readonly Misfit[];
}

/** Datasets as Apache Ossie; `name` for those that came from no Ossie model. Runs inside `withAnalyzer`. */
export function writeOssie(
  datasets: readonly Dataset[],
  { dialect, name }: { readonly dialect: Dialect; readonly name: string },
): Exported {
  const byModel = Map.groupBy(datasets, (dataset) => modelName(dataset) ?? name);
  const models = [...byModel].map(([model, own]) => writtenModel(own, { dialect, name: model }));
  const document = { version: ossieVersion, semantic_model: models.map(({ model }) => model) };
  return {
    text: stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }),
    misfits: models.flatMap(({ misfits }) => misfits),
  };
}

function modelName({ extensions }: Dataset): string | undefined {
  const header = extensions?.['ossie_model'];
  return isEntry(header) && typeof header['name'] === 'string' ? header['name'] : undefined;
}
