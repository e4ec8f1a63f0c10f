import type { Document } from 'yaml';
import { parseYaml } from '../../lib/yaml/parse-yaml.ts';
import { projectPaths } from '../../store/directories.ts';
import { readText, writeAtomically } from '../../store/files.ts';
import { projectConfigSchema, type ProjectConfig } from './config.ts';
import { configName, projectNotFound } from './find-project.ts';

/** Reads and checks `ktx.yaml`. An error names line, column and the nearest valid name. */
export async function readConfig(dir: string): Promise<ProjectConfig> {
  return parseConfig(await readConfigText(dir));
}

/**
 * Edits `ktx.yaml` in place and keeps comments and order. The result is checked before it is
 * written.
 */
export async function editConfig(dir: string, edit: (document: Document) => void): Promise<void> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(await readConfigText(dir));
  edit(document);
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  await parseConfig(text);
  await writeAtomically(projectPaths(dir).config, text, { within: dir });
}

async function readConfigText(dir: string): Promise<string> {
  const text = await readText(projectPaths(dir).config, dir);
  if (text === undefined) throw projectNotFound(`in ${dir}`);
  return text.replace(/^\uFEFF/, '');
}

function parseConfig(text: string): Promise<ProjectConfig> {
  const hint =
    'Correct the file; ktx schema ktx prints its JSON Schema. You can delete an empty file.';
  return parseYaml(projectConfigSchema, { file: configName, text, code: 'config_invalid', hint });
}
