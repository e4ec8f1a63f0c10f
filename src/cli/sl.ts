import { join } from 'node:path';
import { load } from 'js-yaml';
import { counted } from '../lib/counted.ts';
import { UserError } from '../lib/error.ts';
import { nearest } from '../lib/suggest.ts';
import { conflictsAbout, conflictsIn, contestedLines } from '../project/conflicts.ts';
import { isQueryable } from '../semantic/check.ts';
import { readText } from '../store/files.ts';
import { defineCommand } from './command.ts';

export const list = defineCommand({
  description: 'The datasets of the semantic layer with their metrics and what they join to.',
  examples: [['ktx sl list', 'every dataset of the only warehouse']],
  rows: true,
  define: (command) => command.option('--connection <name>', 'which warehouse, where there are several'),
  async run({ options }, context) {
    const project = await context.project();
    const connection = project.connection(options.connection).name;
    const { model, diagnostics } = await project.model(connection);
    const rows = [...model.datasets.values()].map(({ name, metrics, relationships }) => {
      const visible = [...metrics.values()].filter(({ hidden }) => !hidden);
      const joins = relationships.map((link) => (link.name === link.to ? link.to : `${link.name}: ${link.to}`));
      const named = visible.map((metric) => (isQueryable(model, metric) ? metric.name : `${metric.name} (not yet queryable)`));
      return [name, named.join(', '), joins.join(', ')];
    });
    const columns = ['dataset', 'metrics', 'joins'].map((name) => ({ name }));
    return {
      data: { connection, columns, rows },
      table: { columns, rows },
      notes: model.excluded.size === 0 ? [] : [`${counted(model.excluded.size, 'dataset')} left out as invalid`],
      next: rows.length === 0 ? ['ktx ingest'] : diagnostics.length > 0 ? ['ktx sl validate'] : [`ktx sl read ${String(rows[0]?.[0])}`],
    };
  },
});

export const read = defineCommand({
  description: 'One dataset as its file has it: fields, metrics, segments, relationships.',
  examples: [['ktx sl read orders', 'the YAML; with --json as an object']],
  define: (command) => command.argument('<dataset>', 'its name').option('--connection <name>', 'which warehouse, where there are several'),
  async run({ args: [dataset], options }, context) {
    const project = await context.project();
    const connection = project.connection(options.connection).name;
    const { model } = await project.model(connection);
    const isInvalid = model.excluded.has(dataset);
    const file = model.datasets.get(dataset)?.file ?? `semantic-layer/${connection}/${dataset}.yaml`;
    const isKnown = isInvalid || model.datasets.has(dataset);
    const text = isKnown ? await readText(join(project.dir, file), project.dir) : undefined;
    if (text === undefined) {
      const [suggestion] = nearest(dataset, [...model.datasets.keys(), ...model.excluded], 1);
      const hint = suggestion === undefined ? 'ktx sl list shows what there is' : `did you mean ${suggestion}?`;
      throw new UserError('dataset_unknown', `${connection} has no dataset ${dataset}.`, { hint, exitCode: 2 });
    }
    const contested = contestedLines(conflictsAbout(await conflictsIn(project.dir), connection, dataset));
    const invalid = isInvalid ? ['This dataset is invalid and left out of queries: ktx sl validate says why.'] : [];
    const data = { connection, file, definition: isInvalid ? undefined : load(text), yaml: text, contested };
    return { verbatim: true, data, text: text.trimEnd(), notes: [...invalid, ...contested] };
  },
});

export const validate = defineCommand({
  description: 'Checks every file of the semantic layer; each problem with file, line, column and the nearest valid name. For CI too.',
  examples: [['ktx sl validate', 'fails where something is wrong']],
  define: (command) => command.argument('[connection]', 'all where it is left out'),
  async run({ args: [asked] }, context) {
    const project = await context.project();
    const names = asked === undefined ? project.warehouses : [project.connection(asked).name];
    const loaded = await Promise.all(names.map((name) => project.model(name)));
    const problems = loaded.flatMap(({ diagnostics }) => diagnostics);
    const datasets = loaded.reduce((sum, { model }) => sum + model.datasets.size, 0);
    // A name that the catalog does not have leaves a dataset usable, yet is a fault until someone looks.
    const errors = problems.filter(({ severity, rule }) => severity === 'error' || rule === 'unknown_name').length;
    const hint = 'correct the lines above; the other datasets work';
    const lines = problems.map(({ file, line, column, severity, message, hint: meant }) => {
      return `${file}:${line}:${column}: ${severity}: ${message}${meant === undefined ? '' : ` (${meant})`}`;
    });
    return {
      data: { datasets, problems },
      text: [...lines, counted(datasets, 'valid dataset')].join('\n'),
      failure: errors === 0 ? undefined : new UserError('model_invalid', `${counted(errors, 'problem')} in the semantic layer.`, { hint }),
    };
  },
});
