import { basename, resolve } from 'node:path';
import { formatCount } from '../../../lib/format-count.ts';
import type { Misfit } from '../../../semantic/formats/imported-model.ts';
import { writeAtomically } from '../../../store/files.ts';
import { defineCommand } from '../../command.ts';
import { readInput } from '../query/sql.ts';

const notes = (misfits: readonly Misfit[]): string[] =>
  misfits.map(({ at, message }) => `${at}: ${message}`);

export const exportModel = defineCommand({
  description:
    'The semantic layer in another tool’s words: Apache Ossie, losslessly, or dbt semantic models. Notes name what does not fit.',
  examples: [
    ['ktx sl export', 'Ossie on standard output'],
    [
      'ktx sl export --format dbt --out models/semantic.yml',
      'into a file; each thing that other tools will not see is a note',
    ],
  ],
  define: (command) =>
    command
      .option('--format <name>', 'ossie or dbt', 'ossie')
      .option('--out <path>', 'write to a file')
      .option('--connection <name>', 'which warehouse, where there are several'),
  async run({ options }, context) {
    const project = await context.project();
    const exchange = await import('../../../project/answer/exchange.ts');
    const { text, ...about } = await exchange.exportModel(project, options);
    const { out } = options;
    if (out !== undefined) await writeAtomically(resolve(context.surroundings.cwd, out), text);
    const summary = `${formatCount(about.datasets, 'dataset')} as ${about.format}`;
    return {
      verbatim: true,
      data: out === undefined ? { ...about, text } : { ...about, out },
      text: out === undefined ? text.trimEnd() : `${summary} in ${out}`,
      notes: notes(about.misfits),
    };
  },
});

export const importModel = defineCommand({
  description:
    'Writes a dataset file for each dataset of another tool’s model; files that are there already are left alone, nothing is committed.',
  examples: [
    ['ktx sl import model.yaml', 'Ossie, dbt semantic models, or LookML'],
    ['ktx sl import model.yaml --dry-run', 'what it would write, and what does not fit'],
  ],
  define: (command) =>
    command
      .argument('<files...>', 'the files of one model; - reads standard input')
      .option('--format <name>', 'by default, what the files look like')
      .option('--connection <name>', 'which warehouse, where there are several')
      .option('--dry-run', 'write nothing'),
  async run({ args: [paths], options }, context) {
    const project = await context.project();
    const exchange = await import('../../../project/answer/exchange.ts');
    const read = async (path: string) => ({
      file: basename(path),
      text: await readInput(resolvePath(path, context.surroundings.cwd), context),
    });
    const files = await Promise.all(paths.map(read));
    const imported = await exchange.importModel(project, {
      ...options,
      files,
      dryRun: options.dryRun === true,
    });
    const { written, kept, misfits } = imported;
    const lines = [
      ...written.map((path) => `${options.dryRun === true ? 'would write' : 'wrote'} ${path}`),
      ...kept.map((path) => `left alone: ${path}`),
    ];
    return {
      verbatim: true,
      data: { ...imported, dry_run: options.dryRun === true },
      text: lines.length === 0 ? 'No dataset in it.' : lines.join('\n'),
      notes: notes(misfits),
      next: written.length > 0 && options.dryRun !== true ? ['ktx sl validate'] : [],
    };
  },
});

function resolvePath(path: string, cwd: string): string {
  return path === '-' ? path : resolve(cwd, path);
}
