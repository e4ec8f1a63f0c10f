import type { PermissionRequest, ToolCall, ToolEffect } from '../../llm/port/tool-call.ts';
import type { PermissionMode } from '../../project/agents/agent-schema.ts';

export type PermissionDecision = 'once' | 'session' | 'no';

export interface PermissionPolicy {
  /** `unattended`: context and queries run; writes and external tools do not. */
  readonly mode: PermissionMode | 'unattended';
  /** Asks a person. Without it, everything that would be asked is denied. */
  readonly ask?: ((request: PermissionRequest) => Promise<PermissionDecision>) | undefined;
}

/**
 * The effects that need permission in each mode. ktx itself writes only what git can undo, so
 * `acceptEdits` asks only for tools of other servers.
 */
const askedEffects: Readonly<Record<PermissionPolicy['mode'], readonly ToolEffect[]>> = {
  manual: ['query', 'write', 'external'],
  acceptEdits: ['external'],
  acceptAll: [],
  unattended: ['write', 'external'],
};

/**
 * Decides whether a tool call may run. One per session, so that "for this session" has a meaning.
 */
export function openPermissions({ mode, ask }: PermissionPolicy) {
  const grantedTools = new Set<string>();
  return {
    mode,
    /** True if the call needs permission. */
    isAsked: ({ tool, effect }: Pick<PermissionRequest, 'tool' | 'effect'>): boolean =>
      askedEffects[mode].includes(effect) && !grantedTools.has(tool),
    /** Asks for permission. Returns why the call may not run; undefined if it may. */
    async refusal(
      request: Omit<PermissionRequest, 'id'>,
      call: ToolCall | undefined,
    ): Promise<string | undefined> {
      const askInTurn = call?.ask;
      if (ask === undefined || call === undefined || askInTurn === undefined)
        return 'nobody to ask';
      const decision = await askInTurn(request, () => ask({ id: call.id, ...request }));
      if (decision === 'session') grantedTools.add(request.tool);
      return decision === 'no' ? 'denied by the user' : undefined;
    },
    /** Tools that were allowed for the whole session. */
    granted: (): readonly string[] => [...grantedTools],
  };
}

export type Permissions = ReturnType<typeof openPermissions>;
