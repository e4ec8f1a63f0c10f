import { Option } from '@commander-js/extra-typings';
import { permissionModes } from '../../../project/agents/agent-schema.ts';
import type { OpenAgent } from '../../../chat/open-agent.ts';
import type { PermissionPolicy } from '../../../chat/tools/permissions.ts';
import { UserError } from '../../../lib/error.ts';
import { askPermission } from '../../chat/input/ask-permission.ts';
import type { LineInput } from '../../chat/input/line-input.ts';
import type { CommandContext } from '../../command.ts';

export const agentOptionText = 'use agents/<name>.yaml (default: the built-in agent)';

export function permissionsOption() {
  return new Option('--permissions <mode>', 'override permissions.mode of the agent').choices(
    permissionModes,
  );
}

interface AgentFlags {
  readonly agent?: string | undefined;
  /** The id of a conversation, or `last`. */
  readonly resume?: string | undefined;
  readonly permissions?: PermissionPolicy['mode'] | undefined;
}

/**
 * Opens the agent of the flags. Without `input` nobody can be asked: queries run, other tools are
 * denied.
 */
export async function openNamedAgent(
  flags: AgentFlags,
  input: LineInput | undefined,
  context: CommandContext,
): Promise<OpenAgent> {
  const project = await context.project();
  const [{ loadAgent }, { openAgent }] = await Promise.all([
    import('../../../project/agents/agent.ts'),
    import('../../../chat/open-agent.ts'),
  ]);
  const agent = await loadAgent(project.dir, flags.agent);
  const defaultMode = input === undefined ? 'unattended' : 'manual';
  const mode = flags.permissions ?? agent.permissions.mode ?? defaultMode;
  const ask: PermissionPolicy['ask'] =
    input && ((request, signal) => askPermission(request, { input, context, signal }));
  const policy = { mode, ask };
  const resume = await resolveConversation(project.dir, flags.resume);
  return openAgent(project, { agent, policy, resume, signal: context.signal });
}

async function resolveConversation(
  projectDir: string,
  id: string | undefined,
): Promise<string | undefined> {
  if (id !== 'last') return id;
  const { transcriptIds } = await import('../../../chat/transcript.ts');
  const last = (await transcriptIds(projectDir)).at(-1);
  if (last !== undefined) return last;
  throw new UserError('chat_unknown', 'There is no conversation to resume.', {
    hint: 'leave out --resume',
    exitCode: 2,
  });
}
