import { z } from 'zod';
import { authModes, backends } from '../llm/backends.ts';

/** A file beside the agent's own, or the text itself. */
const instructionsSchema = z.union([z.string(), z.strictObject({ file: z.string().min(1) })]);

const durationSchema = z
  .string()
  .regex(/^\d{1,6}(?:\.\d+)?\s*(?:ms|s|m|h)$/, 'a duration is a number and a unit: 90s, 2m, 1h');

const modelSchema = z
  .strictObject({
    inherit: z
      .literal(true)
      .optional()
      .describe('Backend and model are those of ktx.yaml; so they are without this key too.'),
    backend: z
      .enum(backends)
      .exclude(['none'])
      .optional()
      .describe('Default: that of ktx.yaml, whose blocks and prices hold here too.'),
    name: z.string().min(1).optional().describe('Default: llm.models.default.'),
    auth: z.enum(authModes).optional().describe('Who pays on claude-agent.'),
    effort: z.enum(['low', 'medium', 'high']).optional().describe('How hard the model thinks.'),
    fallback: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Model of the same backend and account where the first is not available or overloaded.',
      ),
  })
  .refine(
    ({ inherit, backend, name, auth }) =>
      inherit !== true || (backend ?? name ?? auth) === undefined,
    'with inherit there is no backend, name or auth',
  );

const contextSchema = z.strictObject({
  connections: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Warehouses that it may ask. Default: all.'),
  semantic_layer: z
    .enum(['required', 'preferred', 'off'])
    .default('preferred')
    .describe(
      '`required`: numbers come from metrics only. `off`: no context at all, only SQL and the names of tables and columns.',
    ),
});

const serverName = z
  .string()
  .regex(/^[a-z0-9_-]+$/, 'a server is named with a-z, 0-9, _ and -')
  .refine((name) => name !== 'ktx', 'ktx is the name of its own server');
const serverTools = z
  .array(z.string().min(1))
  .min(1)
  .describe('The tools that the agent gets; no other is offered.');
const required = z
  .boolean()
  .default(true)
  .describe('False: a server that cannot be reached is a warning, and its tools are missing.');

const serverSchema = z.discriminatedUnion('transport', [
  z.strictObject({
    transport: z.literal('http'),
    url: z.string().min(1).describe('Address, or a reference such as env:NAME.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('Values, or references such as env:NAME.'),
    tools: serverTools,
    required,
  }),
  z.strictObject({
    transport: z.literal('stdio'),
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe('Its environment beside PATH, HOME and the like: values, or references.'),
    tools: serverTools,
    required,
  }),
]);

const limitsSchema = z.strictObject({
  max_turns: z.int().min(1).max(200).default(20).describe('Assistant turns for one message.'),
  timeout: durationSchema.default('300s').describe('For one message.'),
  max_budget_usd: z.number().positive().optional().describe('US dollars for a whole conversation.'),
  max_rows: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe('Rows of one query. Default: query.max_rows of ktx.yaml.'),
  max_queries: z.int().min(1).max(1000).default(30).describe('Queries for one message.'),
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
        'an agent is named in lower case: a letter, then letters, digits, _ or -',
      ),
    instructions: instructionsSchema
      .optional()
      .describe('What it is told beside the instructions of ktx: the text, or `{file: ./x.md}`.'),
    model: modelSchema.prefault({}),
    context: contextSchema.prefault({}),
    tools: z
      .strictObject({
        allow: z.array(z.string().min(1)).optional().describe('Only these tools of ktx.'),
        deny: z.array(z.string().min(1)).default([]).describe('Not these.'),
      })
      .prefault({}),
    mcp_servers: z
      .record(serverName, serverSchema)
      .default({})
      .describe('Servers of others whose tools the agent may use.'),
    permissions: z
      .strictObject({
        mode: z
          .enum(permissionModes)
          .optional()
          .describe(
            '`manual` asks for queries, writes and external tools; `acceptEdits` for external tools and what git cannot undo; `acceptAll` for nothing. Default: `manual` where a person is there to ask; else queries run, and writes and external tools do not.',
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
        'JSON Schema that every answer fits: `{file: ./answer.schema.json}` or `{schema: …}`.',
      ),
  })
  .describe('An agent for `ktx ask`, `ktx chat` and `ktx eval`.');

export type AgentFile = z.infer<typeof agentSchema>;
export type PermissionMode = (typeof permissionModes)[number];
export type ServerConfig = z.infer<typeof serverSchema>;
