import type { PermissionRequest, ToolCall, ToolEffect } from '../../llm/port/tool-call.ts';
import type { PermissionMode } from '../../project/agents/agent-schema.ts';

export type PermissionDecision = 'once' | 'session' | 'no';

export interface PermissionPolicy {
  /** `unattended`: context and queries run; writes and external tools do not. */
  readonly mode: PermissionMode | 'unattended';
  /** Asks a person. Without it, everything that would be asked is denied. */
  readonly ask?:
    | ((request: PermissionRequest, signal?: AbortSignal) => Promise<PermissionDecision>)
    | undefined;
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
  let isCuratedGranted = false;
  let lastQuestion: Promise<unknown> = Promise.resolve();
  const isGranted = ({ tool, isCurated }: Omit<PermissionRequest, 'id'>): boolean =>
    grantedTools.has(tool) || (isCurated === true && isCuratedGranted);
  const keepDecision = (
    { tool, isCurated }: Omit<PermissionRequest, 'id'>,
    decision: PermissionDecision,
  ): void => {
    // What is curated and read-only is asked about once in a session.
    if (isCurated === true && decision !== 'no') isCuratedGranted = true;
    else if (decision === 'session') grantedTools.add(tool);
  };
  return {
    mode,
    /** True if the call needs permission. */
    isAsked: ({ tool, effect }: Pick<PermissionRequest, 'tool' | 'effect'>): boolean =>
      askedEffects[mode].includes(effect) && !grantedTools.has(tool),
    /** True if queries of what is curated run without a question. */
    isCuratedGranted: (): boolean => isCuratedGranted,
    /** Asks for permission, one question at a time. Returns why the call may not run. */
    async refusal(
      request: Omit<PermissionRequest, 'id'>,
      call: ToolCall | undefined,
    ): Promise<string | undefined> {
      const askInTurn = call?.ask;
      if (ask === undefined || call === undefined || askInTurn === undefined)
        return 'nobody to ask';
      const { id, signal } = call;
      const answer = async (): Promise<PermissionDecision> => {
        await lastQuestion.catch(() => undefined);
        // The answer to the question before this one may cover it; a stopped turn asks nothing.
        if (isGranted(request)) return 'once';
        if (signal?.aborted === true) return 'no';
        return askInTurn(request, () => ask({ id, ...request }, signal));
      };
      const question = answer();
      lastQuestion = question;
      const decision = await question;
      keepDecision(request, decision);
      return decision === 'no' ? 'denied by the user' : undefined;
    },
    /** Tools that were allowed for the whole session. */
    granted: (): readonly string[] => [...grantedTools],
  };
}

export type Permissions = ReturnType<typeof openPermissions>;
