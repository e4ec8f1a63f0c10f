import { join } from 'node:path';
import { parseDatasetFile } from '../../context/merge/merge-dataset.ts';
import { type YamlMapping, yamlFile } from '../../context/merge/yaml-text.ts';
import { UserError } from '../../lib/error.ts';
import { type Dataset, datasetSchema } from '../../semantic/model/dataset.ts';
import type { Misfit } from '../../semantic/formats/imported-model.ts';
import type { ImportFile } from '../../semantic/formats/formats.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import { findDialect } from '../../sql/dialects.ts';
import { readText, writeAtomically } from '../../store/files.ts';
import { withProjectLock } from '../../store/lock.ts';
import { listDatasetFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';

interface Asked {
  readonly connection?: string | undefined;
  readonly format?: string | undefined;
}

/** The valid datasets of a connection in another tool's words, and what that tool will not see. */
export async function exportModel(
  project: Project,
  { connection: asked, format = 'ossie' }: Asked,
) {
  const { findWriter } = await import('../../semantic/formats/formats.ts');
  const write = findWriter(format);
  const { name: connection, config } = project.connection(asked);
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
  const left = [...model.excluded].map((name) => ({
    at: `datasets.${name}`,
    message: 'left out: its file has errors',
  }));
  return { connection, format, text, datasets: datasets.length, misfits: [...left, ...misfits] };
}

interface Import extends Asked {
  readonly files: readonly ImportFile[];
  readonly dryRun: boolean;
}

/** What an import did, by the paths of the files. */
interface Imported {
  readonly connection: string;
  readonly format: string;
  readonly written: readonly string[];
  /** There already, and not touched. */
  readonly kept: readonly string[];
  readonly misfits: readonly Misfit[];
}

/** Writes a dataset file for each dataset that has none yet; nothing is committed. */
export async function importModel(
  project: Project,
  { connection: asked, format, files, dryRun }: Import,
): Promise<Imported> {
  const { findFormat } = await import('../../semantic/formats/formats.ts');
  const { name: connection, config } = project.connection(asked);
  const { name, read } = findFormat(format, files);
  const { datasets, misfits } = await withAnalyzer(() => read(files, findDialect(config.driver)));
  const source = `Imported from ${files.map(({ file }) => file).join(', ')} (${name}); yours to edit.`;
  const texts = new Map(
    datasets.map((dataset) => [
      `semantic-layer/${connection}/${dataset.dataset}.yaml`,
      fileText(source, dataset),
    ]),
  );
  const present = async () =>
    new Set(
      (await listDatasetFiles(project.dir, connection)).map(({ path }) =>
        path.replace(/\.yml$/, '.yaml'),
      ),
    );
  const run = async () => {
    const before = await present();
    const written = [...texts].filter(([path]) => !before.has(path));
    if (!dryRun)
      for (const [path, text] of written)
        await writeAtomically(join(project.dir, path), text, { within: project.dir });
    return {
      written: written.map(([path]) => path),
      kept: [...texts.keys()].filter((path) => before.has(path)),
    };
  };
  return {
    connection,
    format: name,
    misfits,
    ...(dryRun ? await run() : await withProjectLock(project.dir, run)),
  };
}

function fileText(comment: string, dataset: Dataset): string {
  // Without what is undefined, which YAML cannot say.
  return yamlFile(
    comment.replaceAll(/\s+/g, ' '),
    JSON.parse(JSON.stringify(dataset)) as YamlMapping,
  );
}
