import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml';
import { UserError } from '../lib/error.ts';
import { located } from '../semantic/diagnostic.ts';
import { projectPaths } from '../store/directories.ts';
import { readText, writeAtomically } from '../store/files.ts';
import { explainIssues } from './config-issues.ts';
import { projectConfigSchema, type ProjectConfig } from './config.ts';

const fileName = 'ktx.yaml';

interface Place {
  readonly projectDir?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** The project's folder: `--project-dir`, else KTX_PROJECT_DIR, else the nearest `ktx.yaml` upward. */
export function findProject({ projectDir, env, cwd }: Place): string {
  const named = projectDir ?? (env['KTX_PROJECT_DIR'] || undefined);
  if (named !== undefined) {
    const dir = resolve(cwd, named);
    if (existsSync(join(dir, fileName))) return dir;
    throw notFound(`no ${fileName} in ${dir} (${projectDir === undefined ? 'KTX_PROJECT_DIR' : '--project-dir'})`);
  }
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    if (existsSync(join(dir, fileName))) return dir;
    if (dirname(dir) === dir) throw notFound(`no ${fileName} in ${resolve(cwd)} or above`);
  }
}

/** Reads and checks `ktx.yaml`; what is wrong is an error with line, column and the nearest valid name. */
export async function readConfig(dir: string): Promise<ProjectConfig> {
  return parseConfig(await readConfigText(dir));
}

export async function parseConfig(text: string): Promise<ProjectConfig> {
  const document = parseYaml(text);
  const input: unknown = document.toJS();
  const parsed = projectConfigSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const findings = explainIssues(parsed.error, projectConfigSchema, input).map(({ path, message, suggestion, atKey }) => {
    const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
    const said = `${path.join('.')}${path.length === 0 ? '' : ': '}${message}${hint}`;
    return {
      file: fileName,
      path,
      severity: 'error',
      rule: 'schema',
      message: said,
      hint: suggestion,
      at: atKey ? keyPosition(document, path, text) : undefined,
    } as const;
  });
  throw invalid(await located(text, findings));
}

/** Changes `ktx.yaml` in place: comments and order stay. The result is checked before it is written. */
export async function editConfig(dir: string, edit: (document: Document) => void): Promise<void> {
  const document = parseYaml(await readConfigText(dir));
  edit(document);
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  await parseConfig(text);
  await writeAtomically(projectPaths(dir).config, text);
}

async function readConfigText(dir: string): Promise<string> {
  const text = await readText(projectPaths(dir).config);
  if (text === undefined) throw notFound(`no ${fileName} in ${dir}`);
  return text.replace(/^\uFEFF/, '');
}

function parseYaml(text: string): Document {
  if (text.trim() === '') {
    throw new UserError('config_invalid', `${fileName} is empty.`, {
      hint: 'delete it and type: ktx setup --driver duckdb --path <file>',
      exitCode: 2,
    });
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems = document.errors.map(({ pos, message }) => {
    const { line, col } = lines.linePos(pos[0]);
    return { line, column: col, message };
  });
  if (problems.length > 0) throw invalid(problems);
  if (!isMap(document.contents)) throw invalid([{ line: 1, column: 1, message: 'must be a map with the key connections' }]);
  return document;
}

function keyPosition(document: Document, path: readonly (string | number)[], text: string): { line: number; column: number } | undefined {
  const parent = document.getIn(path.slice(0, -1), true);
  const key = isMap(parent) ? parent.items.find((pair) => isScalar(pair.key) && pair.key.value === path.at(-1))?.key : undefined;
  if (!isScalar(key) || !key.range) return undefined;
  const before = text.slice(0, key.range[0]).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

interface Problem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

function invalid(problems: readonly Problem[]): UserError {
  const lines = problems.map(({ line, column, message }) => `${fileName}:${line}:${column}: ${message}`);
  return new UserError('config_invalid', lines.join('\n'), {
    hint: 'correct the file; ktx schema ktx prints what it may contain',
    exitCode: 2,
    details: { problems: problems.map(({ line, column, message }) => ({ file: fileName, line, column, message })) },
  });
}

function notFound(where: string): UserError {
  return new UserError('project_not_found', `There is no ktx project here: ${where}`, {
    hint: 'ktx setup --driver duckdb --path <file> makes one; ktx demo shows one',
    exitCode: 2,
  });
}
