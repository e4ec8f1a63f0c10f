import { join } from 'node:path';
import { load } from 'js-yaml';
import { parseSubject } from '../../../context/claims/subject.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Diagnostic } from '../../../lib/diagnostic.ts';
import { UserError } from '../../../lib/error.ts';
import { nearest } from '../../../lib/suggest.ts';
import {
  readVisibleDatasets,
  renderStaleLines,
  renderUnqueryableLines,
  renderVisibleDataset,
  findUnqueryableMetrics,
} from '../../../project/answer/visible-datasets.ts';
import { findSteps, listedDataset } from '../../../context/catalog/find-steps.ts';
import type { Project } from '../../../project/open/open.ts';
import {
  describeConflicts,
  filterDatasetConflicts,
  readConflicts,
} from '../../../project/review/conflicts.ts';
import { openStaleness } from '../../../project/review/stale.ts';
import { listSavedQueries } from '../../../project/saved/saved-queries.ts';
import { readText } from '../../../store/files.ts';
import { type CommandResult, defineCommand, type NextStep } from '../../command.ts';
import { visibleFlag } from '../../flags/visible-flag.ts';

type ModelOfProject = Awaited<ReturnType<Project['model']>>['model'];

export const listCommand = defineCommand({
  description:
    'Lists the datasets of the semantic layer with their metrics and joins. Leaves out raw, ' +
    'staging and intermediate datasets that are there for others and have no metrics of their own.',
  examples: [
    ['ktx sl list', 'the datasets that people ask'],
    ['ktx sl list --all', 'also raw, staging and intermediate datasets'],
    ['ktx sl list --connection crm', 'the datasets of one warehouse'],
  ],
  hasRows: true,
  define: (command) =>
    command
      .option('--all', 'also raw, staging and intermediate datasets')
      .option('--connection <name>', 'only this warehouse'),
  async run({ options }, context) {
    const project = await context.project();
    const connections = resolveConnections(project, options.connection);
    const models = await Promise.all(
      connections.map(async (connection) => ({
        connection,
        ...(await project.model(connection)),
      })),
    );
    const hasOneConnection = connections.length === 1;
    const known = models.flatMap(({ connection, model }) => {
      const steps = findSteps([...model.datasets.values()].map(listedDataset));
      return [...model.datasets.keys()].map((name) => {
        const isListed = options.all === true || !steps.has(name);
        return { connection, model, name, isListed };
      });
    });
    const datasets = known.filter(({ isListed }) => isListed);
    const leftOut = known.filter(({ isListed }) => !isListed).map(({ name }) => name);
    const rows = datasets.map(({ connection, model, name }) => [
      ...(hasOneConnection ? [] : [connection]),
      name,
      metricsText(model, name),
      joinsText(model, name),
    ]);
    const columns = [
      ...(hasOneConnection ? [] : ['connection']),
      'dataset',
      'metrics',
      'joins',
    ].map((name) => ({ name }));
    const excluded = models.reduce((sum, { model }) => sum + model.excluded.size, 0);
    const hasProblems = models.some(({ diagnostics }) => diagnostics.length > 0);
    const [first] = datasets;
    const connectionFlag = hasOneConnection ? '' : ` --connection ${first?.connection ?? ''}`;
    const next: NextStep =
      first === undefined
        ? ['ktx ingest']
        : [hasProblems ? 'ktx sl validate' : `ktx sl read ${first.name}${connectionFlag}`];
    return {
      data: {
        ...(hasOneConnection ? { connection: connections[0] } : { connections }),
        columns,
        rows,
        datasets: datasets.map(({ connection, model, name }) => ({
          connection,
          dataset: name,
          metrics: queryableMetrics(model, name),
          joins: (model.datasets.get(name)?.relationships ?? []).map(({ to, name: role }) => ({
            to,
            role,
          })),
        })),
        left_out: leftOut,
      },
      table: { columns, rows },
      notes: [
        ...(leftOut.length === 0
          ? []
          : [
              `${formatCount(leftOut.length, 'raw, staging or intermediate dataset')} not listed: ktx sl list --all`,
            ]),
        ...(excluded === 0 ? [] : [`${formatCount(excluded, 'invalid dataset')} left out`]),
      ],
      next: [next],
    };
  },
});

function queryableMetrics(model: ModelOfProject, dataset: string): readonly string[] {
  const unqueryable = findUnqueryableMetrics(model, dataset);
  return [...(model.datasets.get(dataset)?.metrics.values() ?? [])]
    .filter(({ name, hidden }) => !hidden && !unqueryable.has(name))
    .map(({ name }) => name);
}

function metricsText(model: ModelOfProject, dataset: string): string {
  const metrics = [...(model.datasets.get(dataset)?.metrics.values() ?? [])];
  const unqueryable = findUnqueryableMetrics(model, dataset);
  return metrics
    .filter(({ hidden }) => !hidden)
    .map(({ name }) => (unqueryable.has(name) ? `${name} (not yet queryable)` : name))
    .join(', ');
}

function joinsText(model: ModelOfProject, dataset: string): string {
  const relationships = model.datasets.get(dataset)?.relationships ?? [];
  return relationships.map(({ name, to }) => (name === to ? to : `${name}: ${to}`)).join(', ');
}

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
    const dataset = subject?.dataset ?? name;
    const requested = options.connection ?? subject?.connection;
    const connection = await findConnectionOf(project, dataset, requested);
    const { model } = await project.model(connection);
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
        definition: isInvalid ? undefined : load(yaml),
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
function resolveConnections(project: Project, requested: string | undefined): readonly string[] {
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
