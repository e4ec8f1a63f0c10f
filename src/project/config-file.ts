import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Document } from 'yaml';
import { checkedYaml } from '../lib/checked-yaml.ts';
import { UserError } from '../lib/error.ts';
import { projectPaths } from '../store/directories.ts';
import { readText, writeAtomically } from '../store/files.ts';
import { projectConfigSchema, type ProjectConfig } from './config.ts';

const fileName = 'ktx.yaml';

/** The project's folder: `--project-dir`, else KTX_PROJECT_DIR, else the nearest `ktx.yaml` upward. */
export function findProject(cwd: string, projectDir: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  const named = projectDir ?? (env['KTX_PROJECT_DIR'] || undefined);
  const start = resolve(cwd, named ?? '.');
  for (let dir = start; ; dir = dirname(dir)) {
    if (existsSync(join(dir, fileName))) return dir;
    if (named !== undefined) throw notFound(`in ${dir} (${projectDir === undefined ? 'KTX_PROJECT_DIR' : '--project-dir'})`);
    if (dirname(dir) === dir) throw notFound(`in ${start} or above`);
  }
}

/** Reads and checks `ktx.yaml`; what is wrong is an error with line, column and the nearest valid name. */
export async function readConfig(dir: string): Promise<ProjectConfig> {
  return parseConfig(await readConfigText(dir));
}

/** Changes `ktx.yaml` in place: comments and order stay. The result is checked before it is written. */
export async function editConfig(dir: string, edit: (document: Document) => void): Promise<void> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(await readConfigText(dir));
  edit(document);
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  await parseConfig(text);
  await writeAtomically(projectPaths(dir).config, text);
}

async function readConfigText(dir: string): Promise<string> {
  const text = await readText(projectPaths(dir).config);
  if (text === undefined) throw notFound(`in ${dir}`);
  return text.replace(/^\uFEFF/, '');
}

function parseConfig(text: string): Promise<ProjectConfig> {
  const hint = 'correct the file, or delete an empty one; ktx schema ktx prints what it may contain';
  return checkedYaml(projectConfigSchema, { file: fileName, text, code: 'config_invalid', hint });
}

function notFound(where: string): UserError {
  return new UserError('project_not_found', `There is no ktx project here: no ${fileName} ${where}`, {
    hint: 'ktx setup --driver duckdb --path <file> makes one; ktx demo shows one',
    exitCode: 2,
  });
}
