import { basename, extname, join } from 'node:path';
import { claimsPath, parseClaims } from '../context/claims-file.ts';
import { explain, type Explanation, type Provenance } from '../context/explain.ts';
import { subjectParts } from '../context/subject.ts';
import { UserError } from '../lib/error.ts';
import type { ScanOptions } from '../scan/scan.ts';
import { readText } from '../store/files.ts';
import { listFiles } from './model-files.ts';
import type { Project } from './open.ts';
import { scanProject } from './scan.ts';

type Run = Pick<ScanOptions, 'signal' | 'onProgress'>;

interface Asked {
  readonly subject: string;
  readonly connection?: string | undefined;
  /** Scan too: adds what is not accepted, and the exact measurements. */
  readonly measure: boolean;
}

/** From a fact back to what justifies it: the files first; what they do not know is looked for in a scan. */
export async function explainSubject(project: Project, asked: Asked, run: Run): Promise<Explanation[]> {
  const { subject } = asked;
  const connection = project.connection(asked.connection ?? subjectParts(subject)?.connection).name;
  const written = { connection, datasets: await provenance(project.dir, connection) };
  if (!asked.measure) {
    try {
      return explain(subject, written);
    } catch (error) {
      if (!(error instanceof UserError && error.code === 'subject_unknown')) throw error;
    }
  }
  return explain(subject, { ...written, findings: await scanProject(project, { connection }, run) });
}

/** Every dataset that has claims or a file. */
async function provenance(dir: string, connection: string): Promise<Provenance['datasets']> {
  const claimed = await listFiles(dir, `claims/${connection}`, /\.jsonl$/);
  const artifacts = await listFiles(dir, `semantic-layer/${connection}`, /\.ya?ml$/);
  const datasets = Map.groupBy([...claimed, ...artifacts], (path) => basename(path, extname(path)));
  const read = async (path: string) => (path === '' ? undefined : readText(join(dir, path), dir));
  return Promise.all(
    [...datasets].map(async ([dataset, paths]) => {
      const [claims, path] = [claimsPath(connection, dataset), paths.find((each) => artifacts.includes(each)) ?? ''];
      const [lines = '', text] = await Promise.all([read(claims), read(path)]);
      return { dataset, claims: parseClaims(claims, lines), artifact: text === undefined ? undefined : { path, text } };
    }),
  );
}
