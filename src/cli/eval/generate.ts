import { join } from 'node:path';
import { counted } from '../../lib/counted.ts';
import { readText, writeAtomically } from '../../store/files.ts';
import { defineCommand } from '../command.ts';
import { usage } from '../failure.ts';

export const generate = defineCommand({
  description:
    'Proposes cases for a question set: for each curated metric its value as it is defined now, for each term of the wiki what it means. ' +
    'They hold definitions in place; correct them where a definition is wrong. What stands in the file stays. Asks no model.',
  examples: [
    ['ktx eval generate', 'writes evals/generated.yaml, or adds what it lacks'],
    ['ktx eval generate --dry-run', 'shows it'],
  ],
  define: (command) =>
    command
      .argument('[set]', 'name of the question set', 'generated')
      .option('--connection <name>', 'whose metrics; the only warehouse without')
      .option('--dry-run', 'write nothing'),
  async run({ args: [name], options }, context) {
    if (!/^[a-z0-9][a-z0-9_-]*$/.test(name)) throw usage('A question set is named with a-z, 0-9, _ and -.', 'ktx eval generate revenue');
    const project = await context.project();
    const { addCases, proposeCases } = await import('../../eval/generate.ts');
    const file = `evals/${name}.yaml`;
    const before = await readText(join(project.dir, file), project.dir);
    const connection = project.connection(options.connection).name;
    const { text, ids } = addCases(before, await proposeCases(project, connection), { file, connection });
    const isWritten = options.dryRun !== true && ids.length > 0;
    if (isWritten) await writeAtomically(join(project.dir, file), text, { within: project.dir });
    const said = `${counted(ids.length, 'new case')}${isWritten ? ` in ${file}` : ''}.`;
    return {
      data: { file, added: ids, written: isWritten },
      text: options.dryRun === true ? `${text}${said}` : said,
      next: ids.length > 0 ? [`ktx eval check ${name}  runs their golden SQL`] : [],
    };
  },
});
