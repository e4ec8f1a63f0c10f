import { YAMLException } from 'js-yaml';
import { UserError } from '../../../lib/error.ts';
import { isRecord } from '../../../lib/json.ts';
import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import { readYaml } from '../../../lib/yaml/read-yaml.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, datasetSchema } from '../../model/dataset.ts';
import type { ImportedModel, Misfit } from '../imported-model.ts';
import { readModel } from './read-model.ts';
import { ossieSchema, ossieVersion } from './schema.ts';

/**
 * The datasets of an Apache Ossie document, YAML or JSON. Runs inside `withAnalyzer`. Throws
 * `import_invalid`.
 */
export function readOssie(text: string, dialect: Dialect): ImportedModel {
  const { data, problems } = checkSchema(ossieSchema, parseDocument(text));
  if (problems !== undefined) throw invalidFile(problems.slice(0, 5).map(problemText).join('\n'));
  const models = data.semantic_model.map((model) => readModel(model, dialect));
  const misfits: Misfit[] = models.flatMap((model) => model.misfits);
  if (data.version !== ossieVersion)
    misfits.push({ at: 'version', message: `${data.version} is read as ${ossieVersion}` });
  const datasets = new Map<string, Dataset>();
  for (const dataset of models.flatMap((model) => model.datasets)) {
    const { data: valid, problems: faults } = checkSchema(datasetSchema, dataset);
    const isTwin = datasets.has(dataset.dataset);
    if (valid !== undefined && !isTwin) {
      datasets.set(dataset.dataset, valid);
      continue;
    }
    const reason = isTwin
      ? 'another model in this file has a dataset with the same name'
      : (faults ?? []).map(problemText).join('; ');
    misfits.push({ at: `datasets.${dataset.dataset}`, message: `left out: ${reason}` });
  }
  return { datasets: [...datasets.values()], misfits };
}

function parseDocument(text: string): unknown {
  try {
    const document = readYaml(text);
    if (isRecord(document) && 'ontology' in document)
      throw invalidFile('This is an Ossie ontology, not a semantic model');
    return document;
  } catch (error) {
    if (error instanceof YAMLException)
      throw invalidFile(`This is neither YAML nor JSON: ${error.reason}`);
    throw error;
  }
}

function invalidFile(message: string): UserError {
  const hint =
    'An Ossie file has the keys version and semantic_model, a list of models with datasets.';
  return new UserError('import_invalid', message, { hint, exitCode: 2 });
}
