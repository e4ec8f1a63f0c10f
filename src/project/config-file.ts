import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import type { Document } from 'yaml';
import { located } from '../lib/diagnostic.ts';
import { UserError } from '../lib/error.ts';
import { check } from '../lib/schema-check.ts';
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

async function parseConfig(text: string): Promise<ProjectConfig> {
  const { data, problems } = check(projectConfigSchema, await readYaml(text));
  if (problems === undefined) return data;
  const findings = problems.map(({ path, message, rule }) => {
    const said = path.length === 0 ? message : `${path.join('.')}: ${message}`;
    return { file: fileName, path, severity: 'error', rule, message: said, hint: undefined } as const;
  });
  throw invalid(await located(text, findings));
}

async function readYaml(text: string): Promise<unknown> {
  try {
    return load(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (text.trim() === '') throw invalid([{ line: 1, column: 1, message: `${fileName} is empty; delete it, then: ktx setup` }]);
    // The slower reader knows the place of more mistakes.
    const { LineCounter, parseDocument } = await import('yaml');
    const lines = new LineCounter();
    const [problem] = parseDocument(text, { lineCounter: lines, prettyErrors: false }).errors;
    const { line, col } = problem === undefined ? { line: 1, col: 1 } : lines.linePos(problem.pos[0]);
    throw invalid([{ line, column: col, message: problem?.message ?? error.reason }]);
  }
}

function invalid(problems: readonly { readonly line: number; readonly column: number; readonly message: string }[]): UserError {
  const lines = problems.map(({ line, column, message }) => `${fileName}:${line}:${column}: ${message}`);
  return new UserError('config_invalid', lines.join('\n'), {
    hint: 'correct the file; ktx schema ktx prints what it may contain',
    exitCode: 2,
    details: { problems: problems.map(({ line, column, message }) => ({ file: fileName, line, column, message })) },
  });
}

function notFound(where: string): UserError {
  return new UserError('project_not_found', `There is no ktx project here: no ${fileName} ${where}`, {
    hint: 'ktx setup --driver duckdb --path <file> makes one; ktx demo shows one',
    exitCode: 2,
  });
}
