import type { Item } from '../../source.ts';
import type { DbtConfig } from '../config.ts';
import type { DbtFault, DbtOwner } from '../dbt-project.ts';
import { readCodeOwners } from './code-owners.ts';
import { type GroupOwners, readGroupOwners } from './owners.ts';
import { addReferences, type Declaration, declareRelations } from './models/declarations.ts';
import { readDocBlocks, type DocBlock } from './doc-blocks.ts';
import { type JinjaCall, type JinjaValue, type RenderedTemplate, renderTemplate } from './jinja.ts';
import { type DbtProjectFile, parseProjectFile, projectFileName } from './project-file.ts';
import { openReferences, type References } from './references.ts';
import { parseYamlItem, type YamlItem } from './yaml-item.ts';

/**
 * The files of a project, parsed, with everything that reading one of them needs from the others.
 */
export interface ProjectFiles {
  readonly project: DbtProjectFile;
  readonly config: DbtConfig;
  /** By name. */
  readonly docBlocks: ReadonlyMap<string, DocBlock>;
  readonly yamlItems: readonly YamlItem[];
  readonly declarations: readonly Declaration[];
  readonly references: References;
  readonly groupOwners: GroupOwners;
  /** Who owns a file, by its key. */
  readonly codeOwner: (key: string) => DbtOwner | undefined;
  /** The SQL files of models. */
  readonly modelItems: readonly Item[];
  /** Readers add what they cannot read or resolve. */
  readonly faults: DbtFault[];
}

/** Undefined if the items have no `dbt_project.yml`. */
export function openProjectFiles(
  items: readonly Item[],
  config: DbtConfig,
): ProjectFiles | undefined {
  const projectItem = items.find(({ key }) => key === projectFileName);
  if (projectItem === undefined) return undefined;
  const project = parseProjectFile(projectItem.body);
  const faults: DbtFault[] = [];
  if (project.broken !== undefined) {
    const { line, reason } = project.broken;
    faults.push({ place: { key: projectFileName, line }, reason: `not YAML: ${reason}` });
  }
  const files = items.filter(({ key }) => key !== projectFileName);
  const markdown = files.filter(({ key }) => key.endsWith('.md'));
  const yamlItems = files
    .filter(({ key }) => /\.ya?ml$/.test(key))
    .flatMap((item) => parseYamlItem(item, faults) ?? []);
  const declarations = declareRelations({ files, yamlItems, project, faults });
  const references = openReferences();
  addReferences(references, { declarations, yamlItems, project: project.name });
  return {
    project,
    config,
    docBlocks: new Map(markdown.flatMap(readDocBlocks)),
    yamlItems,
    declarations,
    references,
    groupOwners: readGroupOwners(yamlItems),
    codeOwner: readCodeOwners(items),
    modelItems: declarations.flatMap(({ kind, file, versionFiles }) => {
      const all = new Set([
        ...(file === undefined ? [] : [file]),
        ...(versionFiles?.values() ?? []),
      ]);
      return kind === 'model' ? [...all].filter(({ key }) => key.endsWith('.sql')) : [];
    }),
    faults,
  };
}

/** Resolves the literals, variables and doc blocks of a text, like `{{ doc('orders') }}`. */
export function resolveText(files: ProjectFiles, text: string): RenderedTemplate {
  return renderTemplate(text, (call) => evaluateTextCall(files, call));
}

function evaluateTextCall(
  files: ProjectFiles,
  { name, positional: [first, second] }: JinjaCall,
): JinjaValue | undefined {
  if (name === 'target.schema' || name === 'target.dataset') return files.config.target_schema;
  if (typeof first !== 'string') return undefined;
  if (name === 'var') return findVar(files, first) ?? second;
  // The environment of this process is not that of dbt, and may hold secrets.
  if (name === 'env_var') return configuredVar(files, first) ?? second;
  // With two arguments, the first is the package.
  if (name === 'doc') return files.docBlocks.get(typeof second === 'string' ? second : first)?.text;
  return undefined;
}

/** Variables of `ktx.yaml` win over those of the project. */
function findVar(files: ProjectFiles, name: string): JinjaValue | undefined {
  return configuredVar(files, name) ?? files.project.vars.get(name);
}

function configuredVar({ config: { vars = {} } }: ProjectFiles, name: string) {
  return Object.hasOwn(vars, name) ? vars[name] : undefined;
}
