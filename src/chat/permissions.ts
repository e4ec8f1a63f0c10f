import type { PermissionRequest, ToolCall, ToolEffect } from '../llm/port/tool-call.ts';
import type { PermissionMode } from './agent-schema.ts';

export type PermissionDecision = 'once' | 'session' | 'no';
type Ask = (request: PermissionRequest) => Promise<PermissionDecision>;

export interface PermissionPolicy {
  /** `unattended`: context and queries run; writes and external tools do not. */
  readonly mode: PermissionMode | 'unattended';
  /** Without one there is nobody to ask, and what would be asked is denied. */
  readonly ask?: Ask | undefined;
}

/** ktx itself writes nothing that git cannot undo, so `acceptEdits` asks for what is not ktx's own. */
const asked: Readonly<Record<PermissionPolicy['mode'], readonly ToolEffect[]>> = {
  manual: ['query', 'write', 'external'],
  acceptEdits: ['external'],
  acceptAll: [],
  unattended: ['write', 'external'],
};

/** Who decides whether a call may run: one for each session, so that "for this session" means something. */
export function openPermissions({ mode, ask }: PermissionPolicy) {
  const granted = new Set<string>();
  return {
    mode,
    /** True where the call has to be asked for. */
    isAsked: ({ tool, effect }: Pick<PermissionRequest, 'tool' | 'effect'>): boolean =>
      asked[mode].includes(effect) && !granted.has(tool),
    /** Why it may not run; undefined where it may. */
    async refusal(
      request: Omit<PermissionRequest, 'id'>,
      call: ToolCall | undefined,
    ): Promise<string | undefined> {
      const person = call?.ask;
      if (ask === undefined || call === undefined || person === undefined) return 'nobody to ask';
      const decision = await person(request, () => ask({ id: call.id, ...request }));
      if (decision === 'session') granted.add(request.tool);
      return decision === 'no' ? 'denied by the user' : undefined;
    },
    /** Tools that were allowed for the session. */
    granted: (): readonly string[] => [...granted],
  };
}

export type Permissions = ReturnType<typeof openPermissions>;
