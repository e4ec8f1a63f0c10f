import { join } from 'node:path';
import { load } from 'js-yaml';
import { formatCount } from '../../../lib/format-count.ts';
import type { Diagnostic } from '../../../lib/diagnostic.ts';
import { UserError } from '../../../lib/error.ts';
import { nearest } from '../../../lib/suggest.ts';
import {
  conflictsOfDataset,
  readConflicts,
  conflictLines,
} from '../../../project/review/conflicts.ts';
import {
  staleLines,
  unqueryableLines,
  unqueryableMetrics,
} from '../../../project/answer/visible-datasets.ts';
import type { Project } from '../../../project/open/open.ts';
import { openStaleness } from '../../../project/review/stale.ts';
import { readText } from '../../../store/files.ts';
import { defineCommand } from '../../command.ts';

export const list = defineCommand({
  description: 'The datasets of the semantic layer with their metrics and what they join to.',
  examples: [
    ['ktx sl list', 'every dataset'],
    ['ktx sl list --connection crm', 'those of one warehouse'],
  ],
  rows: true,
  define: (command) => command.option('--connection <name>', 'only this one'),
  async run({ options }, context) {
    const project = await context.project();
    const names = connectionsOf(project, options.connection);
    const loaded = await Promise.all(
      names.map(async (connection) => ({ connection, ...(await project.model(connection)) })),
    );
    const isOne = names.length === 1;
    const found = loaded.flatMap(({ connection, model }) =>
      [...model.datasets.values()].map((dataset) => ({ connection, model, dataset })),
    );
    const rows = found.map(({ connection, model, dataset: { name, metrics, relationships } }) => {
      const visible = [...metrics.values()].filter(({ hidden }) => !hidden);
      const refused = unqueryableMetrics(model, name);
      const joins = relationships.map((link) =>
        link.name === link.to ? link.to : `${link.name}: ${link.to}`,
      );
      const named = visible.map((metric) =>
        refused.has(metric.name) ? `${metric.name} (not yet queryable)` : metric.name,
      );
      return [...(isOne ? [] : [connection]), name, named.join(', '), joins.join(', ')];
    });
    const columns = [...(isOne ? [] : ['connection']), 'dataset', 'metrics', 'joins'].map(
      (name) => ({ name }),
    );
    const excluded = loaded.reduce((sum, { model }) => sum + model.excluded.size, 0);
    const isFaulty = loaded.some(({ diagnostics }) => diagnostics.length > 0);
    const [first] = found;
    const read = `ktx sl read ${first?.dataset.name ?? ''}${isOne ? '' : ` --connection ${first?.connection ?? ''}`}`;
    return {
      data: { ...(isOne ? { connection: names[0] } : { connections: names }), columns, rows },
      table: { columns, rows },
      notes: excluded === 0 ? [] : [`${formatCount(excluded, 'dataset')} left out as invalid`],
      next: [rows.length === 0 ? 'ktx ingest' : isFaulty ? 'ktx sl validate' : read],
    };
  },
});

/** All where none is named; no connection at all is the error that it is elsewhere. */
function connectionsOf(project: Project, asked: string | undefined): readonly string[] {
  const names = project.warehouses;
  return asked === undefined && names.length > 1 ? names : [project.connection(asked).name];
}

export const read = defineCommand({
  description: 'One dataset as its file has it: fields, metrics, segments, relationships.',
  examples: [['ktx sl read orders', 'the YAML; with --json as an object']],
  define: (command) =>
    command
      .argument('<dataset>', 'its name')
      .option('--connection <name>', 'which warehouse, where there are several'),
  async run({ args: [dataset], options }, context) {
    const project = await context.project();
    const connection = await connectionWith(project, dataset, options.connection);
    const { model } = await project.model(connection);
    const isInvalid = model.excluded.has(dataset);
    const file =
      model.datasets.get(dataset)?.file ?? `semantic-layer/${connection}/${dataset}.yaml`;
    const isKnown = isInvalid || model.datasets.has(dataset);
    const text = isKnown ? await readText(join(project.dir, file), project.dir) : undefined;
    if (text === undefined) {
      const [suggestion] = nearest(dataset, [...model.datasets.keys(), ...model.excluded], 1);
      const hint =
        suggestion === undefined
          ? 'ktx sl list shows what there is'
          : `did you mean ${suggestion}?`;
      throw new UserError('dataset_unknown', `${connection} has no dataset ${dataset}.`, {
        hint,
        exitCode: 2,
      });
    }
    const contested = conflictLines(
      conflictsOfDataset(await readConflicts(project.dir), connection, dataset),
    );
    const invalid = isInvalid
      ? ['This dataset is invalid and left out of queries: ktx sl validate says why.']
      : [];
    const unqueryable = unqueryableMetrics(model, dataset);
    const stale = staleLines(await (await openStaleness(project)).ofDataset(connection, dataset));
    const definition = isInvalid ? undefined : load(text);
    const data = {
      connection,
      file,
      definition,
      yaml: text,
      contested,
      stale,
      not_yet_queryable: [...unqueryable],
    };
    return {
      verbatim: true,
      data,
      text: text.trimEnd(),
      notes: [...invalid, ...contested, ...stale, ...unqueryableLines(unqueryable)],
    };
  },
});

export const validate = defineCommand({
  description:
    'Checks every file of the semantic layer; each problem with file, line, column and the nearest valid name. For CI too.',
  examples: [['ktx sl validate', 'fails where something is wrong']],
  define: (command) => command.argument('[connection]', 'all where it is left out'),
  async run({ args: [asked] }, context) {
    const project = await context.project();
    const names = asked === undefined ? project.warehouses : [project.connection(asked).name];
    const loaded = await Promise.all(names.map((name) => project.model(name)));
    const problems = loaded.flatMap(({ diagnostics }) => diagnostics);
    const datasets = loaded.reduce((sum, { model }) => sum + model.datasets.size, 0);
    // A name that the catalog does not have leaves a dataset usable, yet is a fault until someone looks.
    const isFault = ({ severity, rule }: Diagnostic) =>
      severity === 'error' || rule === 'unknown_name';
    const faults = problems.filter(isFault);
    const hint = 'correct the lines above; the other datasets work';
    const lines = problems.map((problem) => {
      const { file, line, column, message, hint: meant } = problem;
      return `${file}:${line}:${column}: ${isFault(problem) ? 'error' : 'warning'}: ${message}${meant === undefined ? '' : ` (${meant})`}`;
    });
    const all = datasets + loaded.reduce((sum, { model }) => sum + model.excluded.size, 0);
    const faulty = new Set(faults.map(({ file }) => file)).size;
    const valid =
      faulty === 0
        ? formatCount(datasets, 'valid dataset')
        : `${Math.max(0, all - faulty)} of ${formatCount(all, 'dataset')} valid`;
    const message = `${formatCount(faults.length, 'problem')} in the semantic layer.`;
    return {
      data: { datasets, problems },
      text: [...lines, valid].join('\n'),
      failure: faults.length === 0 ? undefined : new UserError('model_invalid', message, { hint }),
    };
  },
});

/** The connection that was named, or the one that has the dataset. */
async function connectionWith(
  project: Project,
  dataset: string,
  asked: string | undefined,
): Promise<string> {
  const names = connectionsOf(project, asked);
  const models = await Promise.all(names.map((name) => project.model(name)));
  const having = names.filter(
    (_, index) =>
      models[index]?.model.datasets.has(dataset) || models[index]?.model.excluded.has(dataset),
  );
  return project.connection(having.length === 1 ? having[0] : asked).name;
}
