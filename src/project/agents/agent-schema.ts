import { z } from 'zod';
import { durationSchema } from '../../lib/time/duration.ts';
import { authModes, backends } from '../../llm/backends.ts';

/** The text itself, or a file next to the agent's file. */
const instructionsSchema = z.union([z.string(), z.strictObject({ file: z.string().min(1) })]);

const modelSchema = z
  .strictObject({
    inherit: z
      .literal(true)
      .optional()
      .describe('Use the backend and model of ktx.yaml. This is the default.'),
    backend: z
      .enum(backends)
      .exclude(['none'])
      .optional()
      .describe(
        'Default: the backend of ktx.yaml. Its provider settings and prices apply here too.',
      ),
    name: z.string().min(1).optional().describe('Default: llm.models.default.'),
    auth: z.enum(authModes).optional().describe('Who pays on claude-agent.'),
    effort: z.enum(['low', 'medium', 'high']).optional().describe('How hard the model thinks.'),
    fallback: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Model of the same backend and account, used if the first is unavailable or overloaded.',
      ),
  })
  .refine(
    ({ inherit, backend, name, auth }) =>
      inherit !== true || (backend ?? name ?? auth) === undefined,
    'inherit cannot be combined with backend, name or auth',
  );

const contextSchema = z.strictObject({
  connections: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Warehouses that it may query. Default: all.'),
  semantic_layer: z
    .enum(['required', 'preferred', 'off'])
    .default('preferred')
    .describe(
      '`required`: numbers come only from metrics that a person or code defined or accepted. `off`: only SQL and the names of tables and columns, no other context.',
    ),
});

const serverNameSchema = z
  .string()
  .regex(/^[a-z0-9_-]+$/, 'a server name has only a-z, 0-9, _ and -')
  .refine((name) => name !== 'ktx', 'ktx is the name of ktx’s own server');
const serverToolsSchema = z
  .array(z.string().min(1))
  .min(1)
  .describe('The tools of this server that the agent may use. It gets no others.');
const required = z
  .boolean()
  .default(true)
  .describe(
    'If false and the server cannot be reached, ktx warns and continues without its tools.',
  );

const serverSchema = z.discriminatedUnion('transport', [
  z.strictObject({
    transport: z.literal('http'),
    url: z.string().min(1).describe('Address, or a reference such as env:NAME.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('Values, or references such as env:NAME.'),
    tools: serverToolsSchema,
    required,
  }),
  z.strictObject({
    transport: z.literal('stdio'),
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe(
        'Environment variables of the server, besides PATH, HOME and the like: values, or references such as env:NAME.',
      ),
    tools: serverToolsSchema,
    required,
  }),
]);

const limitsSchema = z.strictObject({
  max_turns: z
    .int()
    .min(1)
    .max(200)
    .default(20)
    .describe('Maximum number of assistant turns for one message.'),
  timeout: durationSchema.default('300s').describe('Time limit for one message.'),
  max_budget_usd: z
    .number()
    .positive()
    .optional()
    .describe('Maximum cost of a whole conversation in US dollars.'),
  max_rows: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe('Maximum number of rows of one query. Default: query.max_rows of ktx.yaml.'),
  max_queries: z
    .int()
    .min(1)
    .max(1000)
    .default(30)
    .describe('Maximum number of queries for one message.'),
});

export const permissionModes = ['manual', 'acceptEdits', 'acceptAll'] as const;

/** `agents/<name>.yaml`. */
export const agentSchema = z
  .strictObject({
    version: z.literal(1).default(1),
    name: z
      .string()
      .regex(
        /^[a-z][a-z0-9_-]{0,62}$/,
        'an agent name is lower case: a letter, then letters, digits, _ or -',
      ),
    instructions: instructionsSchema
      .optional()
      .describe('Instructions in addition to those of ktx: the text, or `{file: ./x.md}`.'),
    model: modelSchema.prefault({}),
    context: contextSchema.prefault({}),
    tools: z
      .strictObject({
        allow: z.array(z.string().min(1)).optional().describe('Offer only these tools of ktx.'),
        deny: z.array(z.string().min(1)).default([]).describe('Tools of ktx that are not offered.'),
      })
      .prefault({}),
    mcp_servers: z
      .record(serverNameSchema, serverSchema)
      .default({})
      .describe('Other MCP servers whose tools the agent may use.'),
    permissions: z
      .strictObject({
        mode: z
          .enum(permissionModes)
          .optional()
          .describe(
            '`manual` asks for queries, writes and external tools; `acceptEdits` for external tools and what git cannot undo; `acceptAll` for nothing. Default: `manual` in a terminal; otherwise queries run, and writes and external tools do not.',
          ),
      })
      .prefault({}),
    limits: limitsSchema.prefault({}),
    response_format: z
      .union([
        z.strictObject({ file: z.string().min(1) }),
        z.strictObject({ schema: z.record(z.string(), z.json()) }),
      ])
      .optional()
      .describe(
        'JSON Schema that every answer must match: `{file: ./answer.schema.json}` or `{schema: …}`.',
      ),
  })
  .describe('An agent for `ktx ask`, `ktx chat` and `ktx eval`.');

export type AgentFile = z.infer<typeof agentSchema>;
export type PermissionMode = (typeof permissionModes)[number];
export type ServerConfig = z.infer<typeof serverSchema>;
