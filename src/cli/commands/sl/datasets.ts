import { join } from 'node:path';
import { parseSubject } from '../../../context/claims/subject.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Diagnostic } from '../../../lib/diagnostic.ts';
import { UserError } from '../../../lib/error.ts';
import { nearest } from '../../../lib/suggest.ts';
import { readYaml } from '../../../lib/yaml/read-yaml.ts';
import {
  readVisibleDatasets,
  renderStaleLines,
  renderUnqueryableLines,
  renderVisibleDataset,
  findUnqueryableMetrics,
} from '../../../project/answer/visible-datasets.ts';
import type { Project } from '../../../project/open/open.ts';
import {
  describeConflicts,
  filterDatasetConflicts,
  readConflicts,
} from '../../../project/review/conflicts.ts';
import { openStaleness } from '../../../project/review/stale.ts';
import { listSavedQueries } from '../../../project/saved/saved-queries.ts';
import { findByOwnSpelling } from '../../../semantic/resolve/names/own-spellings.ts';
import { readText } from '../../../store/files.ts';
import { type CommandResult, defineCommand } from '../../command.ts';
import { visibleFlag } from '../../flags/visible-flag.ts';

type ModelOfProject = Awaited<ReturnType<Project['model']>>['model'];

export const readCommand = defineCommand({
  description: 'Shows the file of one dataset: fields, metrics, segments, relationships.',
  examples: [['ktx sl read orders', 'prints the YAML; with --json also as an object']],
  define: (command) =>
    command
      .argument('<dataset>', 'name of the dataset')
      .option('--connection <name>', 'the warehouse, if there are several')
      .option(...visibleFlag),
  async run({ args: [name], options }, context) {
    const project = await context.project();
    if (options.visible === true) return readVisible(project, name, options.connection);
    // A subject, as search prints it: dataset:shop.orders, field:shop.orders.status.
    const subject = parseSubject(name);
    const named = subject?.dataset ?? name;
    const requested = options.connection ?? subject?.connection;
    const connection = await findConnectionOf(project, named, requested);
    const { model } = await project.model(connection);
    const dataset = model.excluded.has(named) ? named : (findByOwnSpelling(model, named) ?? named);
    const isInvalid = model.excluded.has(dataset);
    const file =
      model.datasets.get(dataset)?.file ?? `semantic-layer/${connection}/${dataset}.yaml`;
    const isKnown = isInvalid || model.datasets.has(dataset);
    const yaml = isKnown ? await readText(join(project.dir, file), project.dir) : undefined;
    if (yaml === undefined) throw unknownDatasetError(dataset, connection, model);
    const conflicts = filterDatasetConflicts(await readConflicts(project.dir), connection, dataset);
    const contested = describeConflicts(conflicts);
    const unqueryable = findUnqueryableMetrics(model, dataset);
    const stale = renderStaleLines(
      await (await openStaleness(project)).ofDataset(connection, dataset),
    );
    const invalidNotes = isInvalid
      ? ['This dataset is invalid, so queries leave it out. For the reason: ktx sl validate']
      : [];
    return {
      verbatim: true,
      data: {
        connection,
        file,
        definition: isInvalid ? undefined : readYaml(yaml),
        yaml,
        contested,
        stale,
        not_yet_queryable: [...unqueryable],
      },
      text: yaml.trimEnd(),
      notes: [...invalidNotes, ...contested, ...stale, ...renderUnqueryableLines(unqueryable)],
    };
  },
});

async function readVisible(
  project: Project,
  named: string,
  requested: string | undefined,
): Promise<CommandResult> {
  const { dataset = named, connection: own } = parseSubject(named) ?? {};
  const connection = await findConnectionOf(project, dataset, requested ?? own);
  const visible = await readVisibleDatasets(project, connection);
  const found = visible.find((each) => each.dataset.dataset === dataset);
  const { model } = await project.model(connection);
  if (found === undefined) throw unknownDatasetError(dataset, connection, model);
  const yaml = renderVisibleDataset(found);
  return {
    verbatim: true,
    data: {
      connection,
      file: found.path,
      definition: found.dataset,
      yaml,
      contested: describeConflicts(found.contested),
      stale: renderStaleLines(found.stale),
      not_yet_queryable: [...found.unqueryable],
    },
    text: yaml.trimEnd(),
  };
}

function unknownDatasetError(
  dataset: string,
  connection: string,
  { datasets, excluded }: ModelOfProject,
): UserError {
  const [suggestion] = nearest(dataset, [...datasets.keys(), ...excluded], 1);
  const hint =
    suggestion === undefined ? 'ktx sl list lists all datasets' : `did you mean ${suggestion}?`;
  const message = `${connection} has no dataset ${dataset}.`;
  return new UserError('dataset_unknown', message, { hint, exitCode: 2 });
}

export const validateCommand = defineCommand({
  description:
    'Checks every file of the semantic layer. Prints each problem with file, line, column ' +
    'and the nearest valid name. Fails if there are ' +
    'errors, for CI.',
  examples: [['ktx sl validate', 'exits with 1 if there are errors']],
  define: (command) => command.argument('[connection]', 'which warehouse (default: all)'),
  async run({ args: [requested] }, context) {
    const project = await context.project();
    const connections =
      requested === undefined ? project.warehouses : [project.connection(requested).name];
    const loaded = await Promise.all(connections.map((name) => project.model(name)));
    const saved = await Promise.all(connections.map((name) => listSavedQueries(project, name)));
    const problems = [
      ...loaded.flatMap(({ diagnostics }) => diagnostics),
      ...saved.flatMap(({ faults }) => faults),
    ];
    const datasets = loaded.reduce((sum, { model }) => sum + model.datasets.size, 0);
    const excluded = loaded.reduce((sum, { model }) => sum + model.excluded.size, 0);
    const errors = problems.filter(isError);
    const isQuery = ({ rule }: Diagnostic): boolean => rule === 'saved_query';
    const invalidFiles = new Set(errors.filter((error) => !isQuery(error)).map(({ file }) => file))
      .size;
    const queries = saved.reduce((sum, list) => sum + list.queries.length, 0);
    const total = datasets + excluded;
    const summary = [
      invalidFiles === 0
        ? formatCount(datasets, 'valid dataset')
        : `${Math.max(0, total - invalidFiles)} of ${formatCount(total, 'dataset')} valid`,
      ...(queries === 0 ? [] : [`saved queries: ${queries}`]),
    ].join(', ');
    const message = `${formatCount(errors.length, 'problem')} in the semantic layer.`;
    const hint = 'correct the lines above; everything else still works';
    return {
      data: { datasets, saved_queries: queries, problems },
      text: [...problems.map(problemLine), summary].join('\n'),
      failure: errors.length === 0 ? undefined : new UserError('model_invalid', message, { hint }),
    };
  },
});

/**
 * An unknown name is only a warning for queries, which still work; here it is an error until
 * somebody looks at it.
 */
function isError({ severity, rule }: Diagnostic): boolean {
  return severity === 'error' || rule === 'unknown_name';
}

function problemLine(problem: Diagnostic): string {
  const { file, line, column, message, hint } = problem;
  const severity = isError(problem) ? 'error' : 'warning';
  return `${file}:${line}:${column}: ${severity}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

/** The requested warehouse, or all. Throws if the project has none. */
export function resolveConnections(
  project: Project,
  requested: string | undefined,
): readonly string[] {
  const names = project.warehouses;
  return requested === undefined && names.length > 1 ? names : [project.connection(requested).name];
}

/** The requested warehouse, or the only one that has the dataset. */
async function findConnectionOf(
  project: Project,
  dataset: string,
  requested: string | undefined,
): Promise<string> {
  const names = resolveConnections(project, requested);
  const models = await Promise.all(names.map((name) => project.model(name)));
  const owners = names.filter((_, index) => {
    const model = models[index]?.model;
    return model?.datasets.has(dataset) || model?.excluded.has(dataset);
  });
  return project.connection(owners.length === 1 ? owners[0] : requested).name;
}
