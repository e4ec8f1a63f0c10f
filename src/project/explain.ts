import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { claimsPath, parseClaims } from '../context/claims-file.ts';
import { explain, type Explanation, type Provenance } from '../context/explain.ts';
import { subjectParts } from '../context/subject.ts';
import { UserError } from '../lib/error.ts';
import type { ScanOptions } from '../scan/scan.ts';
import { readText } from '../store/files.ts';
import { absent, datasetPaths } from './model-files.ts';
import type { Project } from './project.ts';
import { scanProject } from './scan.ts';

interface Asked {
  readonly subject: string;
  readonly connection?: string | undefined;
  /** Scan too: adds what is not accepted, and the exact measurements. */
  readonly measure: boolean;
}

/** From a fact back to what justifies it: the files first; what they do not know is looked for in a scan. */
export async function explainSubject(
  project: Project,
  asked: Asked,
  run: Pick<ScanOptions, 'signal' | 'onProgress'>,
): Promise<Explanation[]> {
  const { subject } = asked;
  const connection = project.warehouseName(asked.connection ?? subjectParts(subject)?.connection);
  const written = { connection, datasets: await provenance(project.dir, connection) };
  const measured = async () => explain(subject, { ...written, findings: await scanProject(project, { connection }, run) });
  if (asked.measure) return measured();
  try {
    return explain(subject, written);
  } catch (error) {
    if (error instanceof UserError && error.code === 'subject_unknown') return measured();
    throw error;
  }
}

/** Every dataset that has claims or a file. */
async function provenance(dir: string, connection: string): Promise<Provenance['datasets']> {
  const claimed = (await readdir(join(dir, 'claims', connection)).catch(absent)) ?? [];
  const files = await datasetPaths(dir, connection);
  const named = (names: readonly string[], ending: RegExp) =>
    names.flatMap((name) => (ending.test(name) ? [name.replace(ending, '')] : []));
  const datasets = new Set([
    ...named(claimed, /\.jsonl$/),
    ...named(
      files.map((path) => path.split('/').at(-1) ?? ''),
      /\.ya?ml$/,
    ),
  ]);
  return Promise.all(
    [...datasets].sort().map(async (dataset) => {
      const path = claimsPath(connection, dataset);
      const claims = parseClaims(path, (await readText(join(dir, path), dir)) ?? '');
      const file = files.find((each) => each.endsWith(`/${dataset}.yaml`) || each.endsWith(`/${dataset}.yml`));
      const text = file === undefined ? undefined : await readText(join(dir, file), dir);
      return { dataset, claims, artifact: file === undefined || text === undefined ? undefined : { path: file, text } };
    }),
  );
}
