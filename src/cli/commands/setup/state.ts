import { join, relative } from 'node:path';
import { UserError } from '../../../lib/error.ts';
import { findProject } from '../../../project/open/find-project.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';

const statusTexts = {
  none: 'not there yet; ktx makes it when it needs it',
  own: 'made by ktx on this machine, readable only by you',
  foreign: 'not made by this version of ktx on this machine: nothing in it is used',
  tracked: 'tracked by git: nothing in it is used',
} as const;

export const showStateCommand = defineCommand({
  description:
    'Shows whether ktx uses the local folder .ktx, which has values, answers of models and conversations. A folder that came with a ' +
    'clone or an archive is not used, because its content would be shown as facts.',
  examples: [['ktx state show', 'whose folder it is, and what to do about it']],
  define: (command) => command,
  async run(_input, context) {
    const path = await statePath(context);
    const { inspectState } = await import('../../../store/ownership/state-guard.ts');
    const { status, problem } = inspectState(path);
    const hint = problem?.hint;
    return {
      data: { path, status, ...(hint === undefined ? {} : { hint }) },
      text: `${path}: ${statusTexts[status]}`,
      notes: hint === undefined ? [] : [hint],
    };
  },
});

export const keepStateCommand = defineCommand({
  description:
    'Uses the .ktx that is there although ktx did not make it on this machine: one of an older ktx, of a backup, or of a cache in CI. ' +
    'Only do this with a folder that you know: its values, answers and conversations count as yours.',
  examples: [['ktx state keep', 'use the folder from now on']],
  define: (command) => command,
  async run(_input, context) {
    const path = await statePath(context);
    const { inspectState, keepState } = await import('../../../store/ownership/state-guard.ts');
    const { status } = inspectState(path);
    if (status === 'none') throw noState(path);
    keepState(path);
    return stateResult(path, 'own', `${path}: ${statusTexts.own}`);
  },
});

export const setStateAsideCommand = defineCommand({
  description:
    'Moves .ktx away and says where; nothing is deleted. The next command makes a new one. Answers that were paid for, conversations and ' +
    'eval runs stay in the folder that was moved.',
  examples: [['ktx state set-aside', 'moves the folder to .ktx-set-aside-<time>']],
  define: (command) => command,
  async run(_input, context) {
    const path = await statePath(context);
    const { setStateAside } = await import('../../../store/ownership/state-guard.ts');
    const moved = setStateAside(path);
    if (moved === undefined) throw noState(path);
    return stateResult(moved, 'none', `moved to ${relative(context.host.cwd, moved) || moved}`);
  },
});

async function statePath(context: CommandContext): Promise<string> {
  const { cwd, env } = context.host;
  return join(findProject(cwd, context.projectDir, env), '.ktx');
}

function stateResult(path: string, status: string, text: string): CommandResult {
  return { data: { path, status }, text };
}

function noState(path: string): UserError {
  return new UserError('state_missing', `There is no ${path}.`, {
    hint: 'ktx makes the folder when it needs it.',
    exitCode: 2,
  });
}
