import { describe, expect, test } from 'vitest';
import { openPermissions, type PermissionDecision } from '../../src/chat/tools/permissions.ts';
import type { ToolCall, ToolEffect } from '../../src/llm/port/tool-call.ts';

const effects: readonly ToolEffect[] = ['context', 'query', 'write', 'external'];
const request = { tool: 'run_sql', effect: 'query' as ToolEffect, input: {} };

/** A call whose session hands questions to the person. */
const call = { id: 'call_1', ask: (_request: unknown, answer: () => unknown) => answer() };

function decide(decision: PermissionDecision) {
  const permissions = openPermissions({ mode: 'manual', ask: async () => decision });
  return { permissions, refusal: permissions.refusal(request, call as unknown as ToolCall) };
}

describe('permissions of an agent', () => {
  test.each([
    ['manual', ['query', 'write', 'external']],
    ['acceptEdits', ['external']],
    ['acceptAll', []],
    ['unattended', ['write', 'external']],
  ] as const)('in mode %s, a person is asked about %s', (mode, asked) => {
    const permissions = openPermissions({ mode });
    const found = effects.filter((effect) => permissions.isAsked({ tool: 'a_tool', effect }));
    expect(found).toEqual(asked);
  });

  test('if nobody can be asked, nothing that needs permission runs', async () => {
    const permissions = openPermissions({ mode: 'unattended' });
    expect(await permissions.refusal(request, undefined)).toBe('nobody to ask');
    expect(await permissions.refusal(request, call as unknown as ToolCall)).toBe('nobody to ask');
  });

  test('after a no the call does not run, and the next one is asked again', async () => {
    const { permissions, refusal } = decide('no');
    expect(await refusal).toBe('denied by the user');
    expect(permissions.isAsked(request)).toBe(true);
  });

  test('once: the next call is asked again; for the session: it is not', async () => {
    const once = decide('once');
    expect(await once.refusal).toBe(undefined);
    expect(once.permissions.isAsked(request)).toBe(true);
    const session = decide('session');
    expect(await session.refusal).toBe(undefined);
    expect(session.permissions.isAsked(request)).toBe(false);
    expect(session.permissions.isAsked({ ...request, tool: 'another' })).toBe(true);
  });
});
