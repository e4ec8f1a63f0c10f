import { join, resolve } from 'node:path';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { readText, writeAtomically } from '../../../store/files.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { escapeControls } from '../../terminal/text-width.ts';

export const generateCommand = defineCommand({
  description:
    'Generates cases for a question set: one per curated metric, with its current value, one per saved query of Looker, and one per term of the wiki. With --queries, one ' +
    'per SQL statement in those files instead. Golden SQL that cannot be run or finds nothing is left out and listed. The cases pin the ' +
    'current definitions; correct a case if its definition is wrong. Keeps existing cases. Uses no model.',
  examples: [
    ['ktx eval generate', 'adds missing cases to evals/generated.yaml'],
    ['ktx eval generate --dry-run', 'prints them'],
    [
      'ktx eval generate board --queries reports/board.sql',
      'one case per statement; the comment above it is the question',
    ],
  ],
  define: (command) =>
    command
      .argument('[set]', 'name of the question set', 'generated')
      .option('--connection <name>', 'the warehouse, if there are several')
      .option(
        '--queries <file...>',
        'SQL files that your team trusts; the comment above each statement is the question',
      )
      .option('--dry-run', 'write nothing'),
  async run({ args: [name], options }, context) {
    if (!/^[a-z0-9][a-z0-9_-]*$/.test(name))
      throw usageError(
        'The name of a question set may contain a-z, 0-9, _ and -.',
        'ktx eval generate revenue',
      );
    const project = await context.project();
    const [{ addCases }, { proposeCases }] = await Promise.all([
      import('../../../eval/cases/add-cases.ts'),
      import('../../../eval/cases/propose-cases.ts'),
    ]);
    const file = `evals/${name}.yaml`;
    const path = join(project.dir, file);
    const before = await readText(path, project.dir);
    const connection = project.connection(options.connection).name;
    const files = await Promise.all(
      (options.queries ?? []).map((queryPath) => readQueryFile(context, queryPath)),
    );
    const { signal } = context;
    const { cases, left } = await proposeCases(project, { connection, files, signal });
    const { text, ids } = addCases(before, cases, { file, connection });
    const isDryRun = options.dryRun === true;
    const written = !isDryRun && ids.length > 0;
    if (written) await writeAtomically(path, text, { within: project.dir });
    const summary = `${formatCount(ids.length, 'new case')}${written ? ` in ${file}` : ''}.`;
    return {
      data: { file, added: ids, written, left },
      text: isDryRun ? `${text}${summary}` : summary,
      notes: left.map(
        ({ what, why }) => `left out: ${escapeControls(what)}: ${escapeControls(why)}`,
      ),
      next: ids.length > 0 ? [[`ktx eval check ${name}`, 'runs their golden SQL']] : [],
    };
  },
});

async function readQueryFile(
  { host }: CommandContext,
  path: string,
): Promise<{ name: string; text: string }> {
  const text = await readText(resolve(host.cwd, path));
  if (text !== undefined) return { name: path, text };
  throw new UserError('file_not_found', `File not found: ${path}.`, {
    hint: 'give a path relative to the current folder',
    exitCode: 2,
  });
}
