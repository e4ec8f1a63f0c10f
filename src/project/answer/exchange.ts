import { join } from 'node:path';
import { parseDatasetFile } from '../../context/merge/merge-dataset.ts';
import { type YamlFileContent, yamlFile } from '../../context/merge/yaml-text.ts';
import { UserError } from '../../lib/error.ts';
import { type Dataset, datasetSchema } from '../../semantic/model/dataset.ts';
import type { Misfit, SavedQueryDraft } from '../../semantic/formats/imported-model.ts';
import type { ImportFile } from '../../semantic/formats/formats.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import { findDialect } from '../../sql/dialects.ts';
import { readText, writeAtomically } from '../../store/files.ts';
import { withProjectLock } from '../../store/lock.ts';
import { listDatasetFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { listSavedQueryFiles } from '../saved/saved-queries.ts';

interface ExchangeRequest {
  readonly connection?: string | undefined;
  readonly format?: string | undefined;
}

/**
 * Writes the valid datasets of a connection in another tool's format. `misfits` lists what that
 * format cannot hold.
 */
export async function exportModel(
  project: Project,
  { connection: requested, format = 'ossie' }: ExchangeRequest,
) {
  const { findWriter } = await import('../../semantic/formats/formats.ts');
  const write = findWriter(format);
  const { name: connection, config } = project.connection(requested);
  const { model } = await project.model(connection);
  const read = (await listDatasetFiles(project.dir, connection)).map(
    async ({ path }): Promise<readonly Dataset[]> => {
      const parsed = parseDatasetFile((await readText(join(project.dir, path), project.dir)) ?? '');
      const { data } = datasetSchema.safeParse('mapping' in parsed ? parsed.mapping : undefined);
      return data !== undefined && model.datasets.has(data.dataset) ? [data] : [];
    },
  );
  const datasets = (await Promise.all(read)).flat();
  if (datasets.length === 0)
    throw new UserError('no_datasets', `${connection} has no valid dataset.`, {
      hint: 'ktx sl validate',
    });
  const { text, misfits } = await withAnalyzer(() =>
    write(datasets, { dialect: findDialect(config.driver), name: connection }),
  );
  const invalid = [...model.excluded].map((name) => ({
    at: `datasets.${name}`,
    message: 'left out: its file has errors',
  }));
  return { connection, format, text, datasets: datasets.length, misfits: [...invalid, ...misfits] };
}

interface ImportRequest extends ExchangeRequest {
  readonly files: readonly ImportFile[];
  readonly dryRun: boolean;
}

/** Paths of the dataset files. */
interface ImportResult {
  readonly connection: string;
  readonly format: string;
  readonly written: readonly string[];
  /** They existed before and were not changed. */
  readonly kept: readonly string[];
  readonly misfits: readonly Misfit[];
}

/** Writes a file for each dataset and saved query that has none yet. Commits nothing. */
export async function importModel(
  project: Project,
  { connection: requested, format, files, dryRun }: ImportRequest,
): Promise<ImportResult> {
  const { findFormat } = await import('../../semantic/formats/formats.ts');
  const { name: connection, config } = project.connection(requested);
  const { name, read } = findFormat(format, files);
  const {
    datasets,
    queries = [],
    misfits,
  } = await withAnalyzer(() => read(files, findDialect(config.driver)));
  const source = `Imported from ${files.map(({ file }) => file).join(', ')} (${name}); yours to edit.`;
  const folder = `semantic-layer/${connection}`;
  const texts = new Map([
    ...datasets.map(
      (dataset) => [`${folder}/${dataset.dataset}.yaml`, modelFileText(source, dataset)] as const,
    ),
    ...queries.map(
      (query) => [`${folder}/queries/${query.query}.yaml`, modelFileText(source, query)] as const,
    ),
  ]);
  const existingPaths = async () =>
    new Set(
      [
        ...(await listDatasetFiles(project.dir, connection)).map(({ path }) => path),
        ...(await listSavedQueryFiles(project.dir, connection)),
      ].map((path) => path.replace(/\.yml$/, '.yaml')),
    );
  const writeMissing = async () => {
    const existing = await existingPaths();
    const written = [...texts].filter(([path]) => !existing.has(path));
    if (!dryRun)
      for (const [path, text] of written)
        await writeAtomically(join(project.dir, path), text, { within: project.dir });
    return {
      written: written.map(([path]) => path),
      kept: [...texts.keys()].filter((path) => existing.has(path)),
    };
  };
  return {
    connection,
    format: name,
    misfits,
    ...(dryRun ? await writeMissing() : await withProjectLock(project.dir, writeMissing)),
  };
}

function modelFileText(comment: string, content: Dataset | SavedQueryDraft): string {
  // The round trip drops undefined values, which YAML cannot hold.
  return yamlFile(
    comment.replaceAll(/\s+/g, ' '),
    JSON.parse(JSON.stringify(content)) as YamlFileContent,
  );
}
