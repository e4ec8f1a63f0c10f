import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { durationSchema } from '../lib/time/duration.ts';
import { UserError } from '../lib/error.ts';
import { providers } from './ai-sdk/providers.ts';
import { authModes, backends, isApiProvider, takesAuthMode, usesLocalSession } from './backends.ts';
import { claudeModelForms, isClaudeModelName } from './claude-code/model-names.ts';
import { modelRoles, type KtxModelRole } from './port/runtime.ts';

const ttl = z.enum(['5m', '1h']);

/**
 * Only backends with cache markers honour these fields; `ignored-settings.ts` lists the ignored
 * ones.
 */
const promptCachingSchema = z
  .strictObject({
    enabled: z.boolean().optional().describe('Default: true.'),
    cacheSystem: z
      .boolean()
      .optional()
      .describe('Put a cache marker on the system text. Default: true.'),
    cacheTools: z.boolean().optional().describe('Put a cache marker on the tools. Default: true.'),
    cacheHistory: z
      .boolean()
      .optional()
      .describe('Put a cache marker on the last message. Default: true.'),
    systemTtl: ttl.optional().describe('Default: 1h.'),
    toolsTtl: ttl.optional().describe('Default: 1h.'),
    historyTtl: ttl.optional().describe('Default: 5m.'),
    vertexFallbackTo5m: z
      .boolean()
      .optional()
      .describe('Use 5m on Vertex, because some regions do not support 1h.'),
  })
  .describe('Anthropic cache markers of the API backends. Claude Code caches by its own rules.');
export type PromptCaching = z.infer<typeof promptCachingSchema>;

const modelName = z.string().min(1);
const modelsSchema = z
  .strictObject({
    default: modelName
      .optional()
      .describe(
        'Model for the roles that are not set here. Required for every backend except none.',
      ),
    triage: modelName.optional().describe('Sorts pages, and reads simple ones.'),
    candidateExtraction: modelName
      .optional()
      .describe('Describes tables, judges relationships, reads work units and notes.'),
    curator: modelName.optional().describe('Chooses the wiki page for extracted terms and rules.'),
    reconcile: modelName.optional().describe('Decides whether claims that disagree mean the same.'),
    repair: modelName.optional().describe('Corrects malformed tool calls.'),
  } satisfies Record<(typeof modelRoles)[number], z.ZodType>)
  .describe(
    'Model for each role. On the Claude Code backends: `sonnet`, `opus`, `haiku` or a full id. On the others: the id that the provider uses.',
  );

const providerSchema = z
  .strictObject({
    backend: z
      .enum(backends)
      .default('none')
      .describe(
        'Who answers: an API, your own local Claude Code session, or Claude Code with an account of its own.',
      ),
    auth: z
      .enum(authModes)
      .optional()
      .describe(
        'Who pays on claude-agent; other backends have no auth. Default: api_key. The credentials come from the environment.',
      ),
    allow_managed_settings: z
      .boolean()
      .optional()
      .describe(
        'Lets managed settings of Claude Code on this machine take part in calls: hooks, headers, variables, models. Without it ktx refuses to start Claude Code there.',
      ),
    program: z
      .string()
      .refine(
        (value) => value === 'auto' || value === 'bundled' || isAbsolute(value),
        'write auto, bundled, or the absolute path of a Claude Code program',
      )
      .optional()
      .describe(
        'Which Claude Code program runs: `bundled` is the one that comes with ktx, an absolute path names one. Default: `auto`, your own one if it is safe and ktx is tested with its version, otherwise the bundled one.',
      ),
    anthropic: providers.anthropic.config.optional(),
    vertex: providers.vertex.config.optional(),
    gateway: providers.gateway.config.optional(),
    openai: providers.openai.config.optional(),
    bedrock: providers.bedrock.config.optional(),
  })
  .superRefine((value, context) => {
    const { backend, auth } = value;
    if (auth !== undefined && !takesAuthMode(backend)) {
      const reason = usesLocalSession(backend)
        ? `${backend} uses your own local session and takes no auth`
        : `${backend} takes no auth`;
      context.addIssue({
        code: 'custom',
        path: ['auth'],
        message: `${reason}; only claude-agent does`,
      });
    }
    if (isApiProvider(backend) && value[backend] === undefined) {
      context.addIssue({
        code: 'custom',
        path: [backend],
        message: `backend ${backend} needs the block provider.${backend}`,
      });
    }
  });

const pricesSchema = z
  .record(
    z.string(),
    z.strictObject({
      input: z.number().nonnegative(),
      output: z.number().nonnegative(),
      cache_read: z.number().nonnegative().optional(),
      cache_write: z.number().nonnegative().optional(),
    }),
  )
  .describe(
    'US dollars per million tokens by model id, for backends that do not report the cost of a call.',
  );

/** The `llm` part of `ktx.yaml`. */
export const llmConfigSchema = z
  .strictObject({
    provider: providerSchema.prefault({}),
    models: modelsSchema.prefault({}),
    promptCaching: promptCachingSchema.optional(),
    timeouts: z
      .strictObject({
        idle_seconds: z
          .number()
          .positive()
          .max(3600)
          .default(120)
          .describe('ktx ends a call that sends nothing for this many seconds.'),
        call_seconds: z
          .number()
          .positive()
          .max(86_400)
          .default(1800)
          .describe('ktx ends a call that takes longer than this many seconds.'),
      })
      .prefault({}),
    retries: z
      .strictObject({
        attempts: z
          .int()
          .min(1)
          .max(20)
          .default(5)
          .describe(
            'How often a request is sent at most if the connection breaks, the provider is overloaded, or a limit is reached.',
          ),
        first_pause_seconds: z
          .number()
          .nonnegative()
          .max(60)
          .default(1)
          .describe(
            'The pause before the second attempt. Each further pause is twice as long, up to 30 seconds. If the provider names a time, ktx waits for that.',
          ),
      })
      .prefault({}),
    max_wait: durationSchema
      .default('1h')
      .describe(
        'The longest wait for the reset of a limit, like 90s or 1h. If the reset is further away, the run ends.',
      ),
    concurrency: z
      .int()
      .min(1)
      .max(64)
      .optional()
      .describe(
        'Maximum number of calls at the same time. The default depends on cores and memory.',
      ),
    send_rows: z
      .enum(['on', 'off'])
      .default('on')
      .describe(
        'Whether the rows that a question needs may go to the model of `ktx ask`, `ktx chat` and `ktx eval`. `off` keeps them on this machine: the model writes the queries, and only the person sees the rows.',
      ),
    max_usd_per_run: z
      .number()
      .positive()
      .optional()
      .describe('A run that has spent this many US dollars makes no further calls.'),
    prices: pricesSchema.default({}),
  })
  .superRefine(({ provider: { backend, auth = 'api_key' }, models }, context) => {
    if (backend === 'none' || isApiProvider(backend)) return;
    const mode = takesAuthMode(backend) ? auth : undefined;
    for (const [role, name] of Object.entries(models)) {
      if (name === undefined || isClaudeModelName(name, mode)) continue;
      const message = `${name} is not a Claude model: ${claudeModelForms}`;
      context.addIssue({ code: 'custom', path: ['models', role], message });
    }
  })
  .describe('The LLM that reads prose. Everything else works without one.');
export type LlmConfig = z.infer<typeof llmConfigSchema>;

/**
 * The model that `llm.models` binds to a role. Throws if there is neither one for the role nor a
 * default.
 */
export function modelIdForRole(
  { provider: { backend }, models }: LlmConfig,
  role: KtxModelRole,
): string {
  const model = models[role] ?? models.default;
  if (model !== undefined) return model;
  const message = `llm.models.default is missing. The backend ${backend} needs it.`;
  throw new UserError('llm_model_missing', message, {
    hint: `ktx setup --llm-backend ${backend} --llm-model <model>`,
    exitCode: 2,
  });
}
