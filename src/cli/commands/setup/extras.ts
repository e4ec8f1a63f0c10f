import { UserError } from '../../../lib/error.ts';
import { extraFolder, isInstalled } from '../../../store/extras/extra-folders.ts';
import { type ExtraName, extraNames, extras } from '../../../store/extras/extra-list.ts';
import { installExtra, removeExtra } from '../../../store/extras/install-extra.ts';
import { isBesideKtx } from '../../../store/extras/require-extra.ts';
import { defineCommand } from '../../command.ts';

export const listExtrasCommand = defineCommand({
  description:
    'Lists the extras: packages that only some projects need, such as Claude Code. Without them everything works that needs no model.',
  examples: [['ktx extras list', 'which are installed, and how large they are']],
  hasRows: true,
  define: (command) => command,
  async run() {
    const rows = extraNames.map((name) => {
      const { title, megabytes } = extras[name];
      return [name, stateOf(name), `${megabytes} MB`, title];
    });
    const columns = ['extra', 'state', 'about', 'for'].map((name) => ({ name }));
    const table = { columns, rows };
    return { data: table, table, next: [['ktx extras add <name>', 'fetches one']] };
  },
});

export const addExtraCommand = defineCommand({
  description:
    'Fetches an extra with npm into a folder of ktx: exact versions, checked against hashes that ship with ktx, without install scripts.',
  examples: [
    ['ktx extras add claude-code', 'answers questions with your Claude Code session'],
    ['ktx extras add anthropic', 'for an API key of Anthropic'],
  ],
  define: (command) => command.argument('<name>', extraNames.join(', ')),
  async run({ args: [wanted] }, context) {
    const name = parseExtra(wanted);
    if (isBesideKtx(name)) {
      const text = `${name} is beside ktx already`;
      return { data: { extra: name, state: stateOf(name) }, text };
    }
    context.progress.update(`fetching ${name}, about ${extras[name].megabytes} MB`);
    const onWait = (message: string): void => context.progress.update(message);
    const folder = await installExtra(name, { signal: context.signal, onWait });
    return { data: { extra: name, state: 'installed', folder }, text: `${name}: ${folder}` };
  },
});

export const removeExtraCommand = defineCommand({
  description: 'Deletes an extra that ktx extras add has fetched.',
  examples: [['ktx extras remove claude-code', 'frees its space']],
  define: (command) => command.argument('<name>', extraNames.join(', ')),
  async run({ args: [wanted] }, { signal, progress }) {
    const name = parseExtra(wanted);
    const onWait = (message: string): void => progress.update(message);
    const removed = await removeExtra(name, { signal, onWait });
    const text = removed.length === 0 ? `${name} is not installed` : `removed ${extraFolder(name)}`;
    return { data: { extra: name, removed }, text };
  },
});

function stateOf(name: ExtraName): string {
  if (isBesideKtx(name)) return 'beside ktx';
  return isInstalled(name) ? 'installed' : 'not installed';
}

function parseExtra(wanted: string): ExtraName {
  const name = extraNames.find((known) => known === wanted.toLowerCase());
  if (name !== undefined) return name;
  throw new UserError('usage', `There is no extra ${JSON.stringify(wanted)}.`, {
    hint: `one of ${extraNames.join(', ')}`,
    exitCode: 2,
  });
}
