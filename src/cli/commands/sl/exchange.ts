import { basename, resolve } from 'node:path';
import { formatCount } from '../../../lib/format-count.ts';
import { writeAtomically } from '../../../store/files.ts';
import { defineCommand } from '../../command.ts';
import { readInput } from '../../flags/read-input.ts';

export const exportCommand = defineCommand({
  description:
    'Exports the semantic layer as Apache Ossie (without loss) or as dbt semantic models. ' +
    'Notes list what the format cannot express.',
  examples: [
    ['ktx sl export', 'Ossie on standard output'],
    [
      'ktx sl export --format dbt --out models/semantic.yml',
      'dbt semantic models in a file; notes list what other tools will not see',
    ],
  ],
  define: (command) =>
    command
      .option('--format <name>', 'ossie or dbt', 'ossie')
      .option('--out <path>', 'write to a file')
      .option('--connection <name>', 'the warehouse, if there are several'),
  async run({ options }, context) {
    const project = await context.project();
    const { exportModel } = await import('../../../project/answer/exchange.ts');
    const { text, ...about } = await exportModel(project, options);
    const { out } = options;
    if (out !== undefined) await writeAtomically(resolve(context.host.cwd, out), text);
    const summary = `wrote ${formatCount(about.datasets, 'dataset')} as ${about.format} to ${out}`;
    return {
      verbatim: true,
      data: out === undefined ? { ...about, text } : { ...about, out },
      text: out === undefined ? text.trimEnd() : summary,
      notes: misfitLines(about.misfits),
    };
  },
});

export const importCommand = defineCommand({
  description:
    'Creates a file for each dataset and saved query in the model of another tool. Keeps ' +
    'files that exist; commits nothing.',
  examples: [
    ['ktx sl import model.yaml', 'from Ossie, dbt semantic models or LookML'],
    ['ktx sl import model.yaml --dry-run', 'shows what it would write, and what does not fit'],
  ],
  define: (command) =>
    command
      .argument('<files...>', 'the files of one model; - reads standard input')
      .option('--format <name>', 'format of the files (default: detected)')
      .option('--connection <name>', 'the warehouse, if there are several')
      .option('--dry-run', 'write nothing'),
  async run({ args: [paths], options }, context) {
    const project = await context.project();
    const { importModel } = await import('../../../project/answer/exchange.ts');
    const readFile = async (path: string) => ({
      file: basename(path),
      text: await readInput(path === '-' ? path : resolve(context.host.cwd, path), context),
    });
    const files = await Promise.all(paths.map(readFile));
    const dryRun = options.dryRun === true;
    const imported = await importModel(project, { ...options, files, dryRun });
    const { written, kept, misfits } = imported;
    const lines = [
      ...written.map((path) => `${dryRun ? 'would write' : 'wrote'} ${path}`),
      ...kept.map((path) => `kept: ${path}`),
    ];
    return {
      verbatim: true,
      data: { ...imported, dry_run: dryRun },
      text: lines.length === 0 ? 'The files contain no dataset.' : lines.join('\n'),
      notes: misfitLines(misfits),
      next: written.length > 0 && !dryRun ? [['ktx sl validate']] : [],
    };
  },
});

function misfitLines(
  misfits: readonly { readonly at: string; readonly message: string }[],
): string[] {
  return misfits.map(({ at, message }) => `${at}: ${message}`);
}
