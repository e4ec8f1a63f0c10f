import { load as readYaml, YAMLException } from 'js-yaml';
import { UserError } from '../../../lib/error.ts';
import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, datasetSchema } from '../../model/dataset.ts';
import type { ImportedModel, Misfit } from '../imported-model.ts';
import { ossieSchema, ossieVersion } from './schema.ts';
import { readModel } from './read-model.ts';
import { isEntry } from '../patch.ts';

/** The datasets of an Apache Ossie document, YAML or JSON. Runs inside `withAnalyzer`. Throws `import_invalid`. */
export function readOssie(text: string, dialect: Dialect): ImportedModel {
  const { data, problems } = checkSchema(ossieSchema, parsed(text));
  if (problems !== undefined) throw invalid(problems.slice(0, 5).map(problemText).join('\n'));
  const read = data.semantic_model.map((model) => readModel(model, dialect));
  const misfits: Misfit[] = read.flatMap((one) => one.misfits);
  if (data.version !== ossieVersion)
    misfits.push({ at: 'version', message: `${data.version} is read as ${ossieVersion}` });
  const datasets = new Map<string, Dataset>();
  for (const dataset of read.flatMap((one) => one.datasets)) {
    const { data: valid, problems: faults } = checkSchema(datasetSchema, dataset);
    const isTwin = datasets.has(dataset.dataset);
    if (valid !== undefined && !isTwin) datasets.set(dataset.dataset, valid);
    const why = isTwin
      ? 'another model of the file has one of that name'
      : (faults ?? []).map(problemText).join('; ');
    if (valid === undefined || isTwin)
      misfits.push({ at: `datasets.${dataset.dataset}`, message: `left out: ${why}` });
  }
  return { datasets: [...datasets.values()], misfits };
}

function parsed(text: string): unknown {
  try {
    const document = readYaml(text);
    if (isEntry(document) && 'ontology' in document)
      throw invalid('This is an ontology of Ossie, not a semantic model');
    return document;
  } catch (error) {
    if (error instanceof YAMLException)
      throw invalid(`This is neither YAML nor JSON: ${error.reason}`);
    throw error;
  }
}

function invalid(message: string): UserError {
  const hint = 'An Ossie file has version and semantic_model, a list of models with datasets.';
  return new UserError('import_invalid', message, { hint, exitCode: 2 });
}
