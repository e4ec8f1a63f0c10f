import { findProject } from '../../../project/open/find-project.ts';
import { answerBasis, readPrepared } from '../../../project/prepared/prepared-answer.ts';
import { type CommandResult, defineCommand } from '../../command.ts';

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
  async run({ options: { all = false, connection } }, context) {
    const asked = { all, connection };
    const { host, projectDir } = context;
    if (host.openProject !== undefined) {
      const { listDatasets } = await import('./list-datasets.ts');
      return listDatasets(await context.project(), asked);
    }
    const dir = findProject(host.cwd, projectDir, host.env);
    const question = { command: 'sl list', all, connection: connection ?? null };
    const basis = answerBasis(dir, question, context.role ?? (host.env['KTX_ROLE'] || undefined));
    // Only this command keeps answers to this question.
    const prepared = (await readPrepared(basis)) as CommandResult | undefined;
    if (prepared !== undefined) return prepared;
    // What opens a project is large.
    const { listDatasets } = await import('./list-datasets.ts');
    return listDatasets(await context.project(), asked, basis);
  },
});
