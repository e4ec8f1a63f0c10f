import { join, resolve } from 'node:path';
import { formatCount } from '../../../lib/format-count.ts';
import { readText, writeAtomically } from '../../../store/files.ts';
import { UserError } from '../../../lib/error.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { escapeControls } from '../../terminal/text-width.ts';

export const generateCommand = defineCommand({
  description:
    'Proposes cases for a question set: for each curated metric its value as it is defined now, for each term of the wiki what it means; ' +
    'with --queries for each statement of these files its rows instead. Golden SQL that does not run, or finds nothing, is left out and named. ' +
    'They hold definitions in place; correct them where a definition is wrong. What stands in the file stays. Asks no model.',
  examples: [
    ['ktx eval generate', 'writes evals/generated.yaml, or adds what it lacks'],
    ['ktx eval generate --dry-run', 'shows it'],
    [
      'ktx eval generate board --queries reports/board.sql',
      'a case a statement; the comment above it is the question',
    ],
  ],
  define: (command) =>
    command
      .argument('[set]', 'name of the question set', 'generated')
      .option('--connection <name>', 'whose metrics; the only warehouse without')
      .option(
        '--queries <file...>',
        'SQL that your team trusts: statements, each below a comment that says what it answers',
      )
      .option('--dry-run', 'write nothing'),
  async run({ args: [name], options }, context) {
    if (!/^[a-z0-9][a-z0-9_-]*$/.test(name))
      throw usageError(
        'A question set is named with a-z, 0-9, _ and -.',
        'ktx eval generate revenue',
      );
    const project = await context.project();
    const [{ addCases }, { proposeCases }] = await Promise.all([
      import('../../../eval/cases/add-cases.ts'),
      import('../../../eval/cases/propose-cases.ts'),
    ]);
    const file = `evals/${name}.yaml`;
    const before = await readText(join(project.dir, file), project.dir);
    const connection = project.connection(options.connection).name;
    const files = await Promise.all(
      (options.queries ?? []).map((path) => queryFile(context, path)),
    );
    const { cases, left } = await proposeCases(project, {
      connection,
      files,
      signal: context.signal,
    });
    const { text, ids } = addCases(before, cases, { file, connection });
    const isWritten = options.dryRun !== true && ids.length > 0;
    if (isWritten) await writeAtomically(join(project.dir, file), text, { within: project.dir });
    const said = `${formatCount(ids.length, 'new case')}${isWritten ? ` in ${file}` : ''}.`;
    return {
      data: { file, added: ids, written: isWritten, left },
      text: options.dryRun === true ? `${text}${said}` : said,
      notes: left.map(
        ({ what, why }) => `left out: ${escapeControls(what)}: ${escapeControls(why)}`,
      ),
      next: ids.length > 0 ? [[`ktx eval check ${name}`, `runs their golden SQL`]] : [],
    };
  },
});

async function queryFile(
  { host }: CommandContext,
  path: string,
): Promise<{ name: string; text: string }> {
  const text = await readText(resolve(host.cwd, path));
  if (text !== undefined) return { name: path, text };
  throw new UserError('file_not_found', `There is no file ${path}.`, {
    hint: 'a path from the folder that you are in',
    exitCode: 2,
  });
}
