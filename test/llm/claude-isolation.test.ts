import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { LlmError } from '../../src/llm/port/error.ts';
import { builtInTools } from '../../src/llm/claude-code/built-in-tools.ts';
import { type ChildAccount, ownSessionPolicy } from '../../src/llm/claude-code/account-policy.ts';
import {
  checkInit,
  type ExpectedInit,
  isolationOptions,
} from '../../src/llm/claude-code/isolation.ts';
import {
  expectedInit,
  childOptions,
  type ChildSpec,
  poolKey,
} from '../../src/llm/claude-code/child/child-spec.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from '../../src/llm/port/runtime.ts';

const note: KtxRuntimeToolDescriptor = {
  name: 'read_note',
  description: 'Reads the note.',
  inputSchema: z.object({}),
  execute: () => Promise.resolve({ markdown: 'Noted.' }),
};
const noteWith = (change: Partial<KtxRuntimeToolDescriptor>): KtxToolSet => ({
  read_note: { ...note, ...change },
});
const tools = noteWith({});
const id = 'mcp__ktx__read_note';
const text: ChildSpec = { model: 'sonnet', role: 'default', system: 'S', tools: {}, stepBudget: 1 };
const schema = { type: 'object', properties: { answer: { type: 'string' } } };
const orders = {
  text,
  object: { ...text, schema, stepBudget: 6 },
  loop: { ...text, tools, stepBudget: 9 },
};

describe('the options of a child', () => {
  test.for(Object.entries(orders))(
    'hold the whole tuple, spelled out, for %s [I1 I2 I3 I4 I5 I6 I7 I8 I9 I11 I19 T2 O4 Q4]',
    ([, spec]) => {
      const options = childOptions(spec);
      expect(options).toMatchObject({
        settingSources: [],
        skills: [],
        plugins: [],
        tools: [],
        agents: {},
        hooks: {},
        additionalDirectories: [],
        persistSession: false,
        strictMcpConfig: true,
        permissionMode: 'dontAsk',
        allowedTools: Object.keys(spec.tools).map(() => id),
        disallowedTools: builtInTools,
        // Each prompt is marked instead: contract/shared-children.test.ts reads what the program
        // gets.
        verbatimPrompts: false,
        model: 'sonnet',
        systemPrompt: 'S',
        maxTurns: spec.stepBudget,
      });
      expect(options.canUseTool).toBeTypeOf('function');
      expect('mcpServers' in options).toBe('read_note' in spec.tools);
      for (const name of ['resume', 'continue', 'fallbackModel', 'extraArgs', 'betas'])
        expect(options).not.toHaveProperty(name);
      expect(JSON.stringify({ ...options, mcpServers: undefined })).not.toMatch(/cache_?control/i);
    },
  );

  test('take every prompt of a session and of a probe as it is [I20]', () => {
    expect(childOptions({ ...text, isSingleUse: true })).toMatchObject({ verbatimPrompts: true });
  });

  test('have one server, new for each child, whose tools are always loaded [I6 I22 A3 A4 D4]', () => {
    const [one, other] = [childOptions(orders.loop), childOptions(orders.loop)].map(
      ({ mcpServers }) => mcpServers,
    );
    expect(Object.keys(one ?? {})).toEqual(['ktx']);
    expect(one?.['ktx']).toMatchObject({ type: 'sdk', name: 'ktx' });
    expect(one?.['ktx']).not.toBe(other?.['ktx']);
  });

  test('ask for an object only if there is a schema [O1 O6]', () => {
    expect(childOptions(orders.object).outputFormat).toEqual({ type: 'json_schema', schema });
    expect(childOptions(orders.text)).not.toHaveProperty('outputFormat');
  });

  test('set the effort of the role [P11]', () => {
    expect(childOptions({ ...text, role: 'triage' })).toMatchObject({
      thinking: { type: 'disabled' },
      effort: 'low',
    });
    expect(childOptions({ ...text, role: 'reconcile' })).toMatchObject({
      thinking: { type: 'adaptive' },
      effort: 'high',
    });
  });

  test('give the pool key: everything that differs in what a child is told [E1]', () => {
    const key = poolKey(text);
    expect(poolKey({ ...text })).toBe(key);
    // Two roles that ask alike can take each other's child.
    expect(poolKey({ ...text, role: 'curator' })).toBe(key);
    const others = [
      { model: 'haiku' },
      { system: 'T' },
      { role: 'triage' as const },
      { schema },
      { stepBudget: 2 },
      { effort: 'high' as const },
      { isSingleUse: true },
      { tools },
      { tools: noteWith({ description: 'Reads it.' }) },
      { tools: noteWith({ inputSchema: z.object({ word: z.string() }) }) },
      { tools: { ...tools, other: { ...note, name: 'other' } } },
    ];
    const keys = others.map((other) => poolKey({ ...text, ...other }));
    expect(new Set([key, ...keys]).size).toBe(others.length + 1);
    // What a tool does is told to nobody: it belongs to the call.
    const execute = () => Promise.resolve({ markdown: 'Something else.' });
    expect(poolKey({ ...text, tools: noteWith({ execute }) })).toBe(poolKey({ ...text, tools }));
  });
});

describe('the permission handler', () => {
  const ask = (name: string) =>
    isolationOptions(expectedInit(orders.loop)).canUseTool?.(
      name,
      { path: 'x' },
      { signal: new AbortController().signal, toolUseID: 'use-1', requestId: 'request-1' },
    );

  test('allows a tool of the call with its input unchanged [I10 Q3]', async () => {
    expect(await ask(id)).toEqual({
      behavior: 'allow',
      updatedInput: { path: 'x' },
      toolUseID: 'use-1',
    });
  });

  test.for([
    'Bash',
    'Skill',
    'SlashCommand',
    'Agent',
    'Task',
    'read_note',
    'mcp__ktx__other',
    'mcp__other__read_note',
    `${id}x`,
  ])('denies %s, and says so [I10 I17 Q3]', async (name) => {
    expect(await ask(name)).toEqual({
      behavior: 'deny',
      message: expect.stringContaining(name),
      toolUseID: 'use-1',
    });
  });
});

describe('the init message of a child', () => {
  type Init = Parameters<typeof checkInit>[0];
  const plain: Init = {
    tools: [],
    mcp_servers: [],
    plugins: [],
    apiKeySource: 'none',
    permissionMode: 'dontAsk',
  };
  const withTools: Init = {
    ...plain,
    tools: [id],
    mcp_servers: [{ name: 'ktx', status: 'connected' }],
  };
  const failure = (init: Init, expected: ExpectedInit): LlmError | undefined => {
    try {
      checkInit(init, expected, ownSessionPolicy);
      return undefined;
    } catch (error) {
      if (error instanceof LlmError) return error;
      throw error;
    }
  };

  test('reports exactly what the child was given [I12 I13 O6]', () => {
    expect(failure(plain, expectedInit(orders.text))).toBeUndefined();
    expect(failure(withTools, expectedInit(orders.loop))).toBeUndefined();
    expect(
      failure({ ...plain, tools: ['StructuredOutput'] }, expectedInit(orders.object)),
    ).toBeUndefined();
    // Said by older releases.
    expect(failure({ ...plain, apiKeySource: 'oauth' }, expectedInit(orders.text))).toBeUndefined();
  });

  test('may list commands, skills, agents and styles of the host [I15 E12]', () => {
    const host = {
      slash_commands: ['evil'],
      skills: ['evil'],
      agents: ['evil'],
      output_style: 'evil',
      memory_paths: { auto: '/evil' },
    };
    expect(failure({ ...plain, ...host }, expectedInit(orders.text))).toBeUndefined();
    expect(failure({ ...withTools, ...host }, expectedInit(orders.loop))).toBeUndefined();
    expect(
      failure({ ...plain, ...host, tools: ['StructuredOutput'] }, expectedInit(orders.object)),
    ).toBeUndefined();
  });

  const builtIn = { name: 'cc-plugin-new', path: 'builtin' };
  test('may list a plugin that is part of the program [I14]', () => {
    expect(failure({ ...plain, plugins: [builtIn] }, expectedInit(orders.text))).toBeUndefined();
  });

  const wrong: readonly (readonly [string, Init, ChildSpec, RegExp])[] = [
    ['a built-in tool', { ...plain, tools: ['Bash'] }, orders.text, /tools: unexpected Bash/],
    [
      'a tool of an object where none is asked',
      { ...plain, tools: ['StructuredOutput'] },
      orders.text,
      /unexpected StructuredOutput/,
    ],
    [
      'another tool',
      { ...withTools, tools: [id, 'mcp__evil__x'] },
      orders.loop,
      /tools: unexpected mcp__evil__x/,
    ],
    [
      'a missing tool',
      { ...withTools, tools: [] },
      orders.loop,
      /tools: missing mcp__ktx__read_note/,
    ],
    [
      'another server',
      { ...plain, mcp_servers: [{ name: 'evil', status: 'connected' }] },
      orders.text,
      /MCP servers: unexpected evil/,
    ],
    ['no server', { ...withTools, mcp_servers: [] }, orders.loop, /MCP servers: missing ktx/],
    [
      'a server that is down',
      { ...withTools, mcp_servers: [{ name: 'ktx', status: 'failed' }] },
      orders.loop,
      /ktx is failed/,
    ],
    [
      'a plugin',
      { ...plain, plugins: [{ name: 'evil', path: '/home/evil' }] },
      orders.text,
      /plugins: unexpected evil/,
    ],
    [
      'another mode',
      { ...plain, permissionMode: 'bypassPermissions' },
      orders.text,
      /permission mode: bypassPermissions/,
    ],
  ];
  test.for(wrong)(
    'is refused with %s, which it names [I12 I13 I14 I16]',
    ([, init, spec, message]) => {
      expect(failure(init, expectedInit(spec))).toMatchObject({
        kind: 'isolation',
        message: expect.stringMatching(message),
      });
    },
  );

  test.for(['ANTHROPIC_API_KEY', 'apiKeyHelper', '/login managed key', 'user', 'project'] as const)(
    'is refused with the API key %s [I23 E8]',
    (apiKeySource) => {
      expect(failure({ ...plain, apiKeySource }, expectedInit(orders.text))).toMatchObject({
        kind: 'auth',
        exitCode: 4,
      });
    },
  );
});

describe('the account that a child would use', () => {
  const refusal = (account: ChildAccount): unknown => {
    try {
      ownSessionPolicy.checkAccount(account);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  test("is the user's own session: a login of the program, or its token [E9 I23]", () => {
    expect(refusal({ apiProvider: 'firstParty', subscriptionType: 'Claude Max' })).toBeUndefined();
    expect(refusal({ apiProvider: 'firstParty', tokenSource: 'claude.ai' })).toBeUndefined();
    expect(
      refusal({ apiProvider: 'firstParty', tokenSource: 'CLAUDE_CODE_OAUTH_TOKEN' }),
    ).toBeUndefined();
  });

  test.for([
    { apiProvider: 'firstParty', tokenSource: 'none' },
    { apiProvider: 'firstParty', tokenSource: 'none', apiKeySource: 'ANTHROPIC_API_KEY' },
    { apiProvider: 'firstParty', apiKeySource: '/login managed key' },
    { apiProvider: 'firstParty', tokenSource: 'ANTHROPIC_AUTH_TOKEN' },
    { apiProvider: 'bedrock' },
    { apiProvider: 'gateway', tokenSource: 'claude.ai' },
  ])('is refused as %o, with the way to log in [E8 E13 I23]', (account) => {
    expect(refusal(account)).toMatchObject({
      kind: 'auth',
      exitCode: 4,
      hint: expect.stringContaining('Authenticate Claude Code locally'),
    });
  });

  test('of a Console login is refused with the way to pay by its key', () => {
    const { message, hint } = refusal({ apiKeySource: '/login managed key' }) as LlmError;
    expect(message).toContain('Console account');
    expect(hint).toContain('ktx setup --llm-backend claude-agent --llm-auth console');
  });

  test('has no plugin of the program switched on that reads the project [I18]', () => {
    const { settings } = isolationOptions(expectedInit(text));
    expect(settings).toMatchObject({ enabledPlugins: { 'cc-plugin-agents-md@builtin': false } });
  });
});
