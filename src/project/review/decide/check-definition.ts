import { join } from 'node:path';
import type { Pin } from '../../../context/claims/pins.ts';
import { parseSubject } from '../../../context/claims/subject.ts';
import { replaceEntry } from '../../../ingest/render/replace-entry.ts';
import { UserError } from '../../../lib/error.ts';
import { loadModel, type LoadedModel } from '../../../semantic/load/load.ts';
import { readText } from '../../../store/files.ts';
import { listDatasetFiles } from '../../open/model-files.ts';
import type { Project } from '../../open/open.ts';

/** An error if what a person wrote about a dataset cannot be computed. */
export async function checkDefinition(project: Project, pin: Pin): Promise<void> {
  const target = parseSubject(pin.subject);
  if (target === undefined) return;
  const { connection, dataset, name } = target;
  const loaded = await project.model(connection);
  const reason =
    pin.kind === 'metric'
      ? await findMetricFault(project, pin, loaded)
      : findFieldFault(loaded.model.datasets.get(dataset), pin);
  if (reason === undefined) return;
  throw new UserError('definition_unusable', `${name === '' ? dataset : name}: ${reason}`, {
    hint: `ktx sl read ${dataset} shows its fields`,
    exitCode: 2,
  });
}

/** Loads the dataset with the metric as the person wrote it, in place of the one in the file. */
async function findMetricFault(
  { dir, catalog }: Project,
  { subject, says }: Pin,
  { model: { dialect } }: LoadedModel,
): Promise<string | undefined> {
  const { connection = '', dataset = '', name = '' } = parseSubject(subject) ?? {};
  const changed = `semantic-layer/${connection}/${dataset}.yaml`;
  const files = await Promise.all(
    (await listDatasetFiles(dir, connection)).map(async ({ path }) => ({
      path,
      text: (await readText(join(dir, path), dir)) ?? '',
    })),
  );
  const file = files.find(({ path }) => path === changed);
  if (file === undefined) return `there is no ${changed}`;
  const entry = { ...(says as Readonly<Record<string, unknown>>), name };
  const others = files.filter((own) => own !== file);
  const tables = (await catalog(connection))?.tables;
  const known = await faultsOf(files);
  const found = await faultsOf([
    ...others,
    { path: changed, text: replaceEntry(file.text, 'metrics', entry) },
  ]);
  return found.find((message) => !known.includes(message));

  async function faultsOf(all: typeof files): Promise<readonly string[]> {
    const { diagnostics } = await loadModel({ dialect, files: all, tables });
    return diagnostics
      .filter((own) => own.file === changed)
      .filter(({ severity, rule }) => severity === 'error' || rule === 'unknown_name')
      .map(({ message }) => message);
  }
}

/** A time or a key names fields of its dataset. */
function findFieldFault(
  dataset: { readonly fields: ReadonlyMap<string, unknown> } | undefined,
  { kind, says }: Pin,
): string | undefined {
  if (dataset === undefined || (kind !== 'default_time' && kind !== 'primary_key'))
    return undefined;
  const named = Array.isArray(says) ? says : [says];
  const missing = named
    .filter((name) => typeof name === 'string')
    .find((name) => !dataset.fields.has(name));
  return missing === undefined ? undefined : `there is no field ${missing}`;
}
