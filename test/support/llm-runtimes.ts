import { type LlmOptions, openLlm } from '../../src/llm/factory.ts';
import { llmConfigSchema } from '../../src/llm/config.ts';
import type { Pause } from '../../src/llm/governor/call-gate.ts';
import type { LlmRuntime } from '../../src/llm/governor/govern.ts';
import type { CallRecord } from '../../src/llm/governor/usage.ts';
import { claudeBinary, type ClaudeHome, makeClaudeHome } from './claude-home.ts';
import type { ModelEndpoint } from './model-endpoint.ts';

/**
 * The backends that reach a scripted endpoint on loopback. Bedrock has a wire format of its own,
 * signed and binary.
 */
export const subjects = ['anthropic', 'vertex', 'gateway', 'openai', 'claude-code'] as const;
export type Subject = (typeof subjects)[number];

/** Every role that a test does not bind uses this one. */
export const testModel = 'claude-sonnet-4-6';

export interface TestRuntime {
  readonly runtime: LlmRuntime;
  readonly records: readonly CallRecord[];
  readonly warnings: readonly string[];
  readonly pauses: readonly Pause[];
}

export interface RuntimeOverrides {
  readonly models?: Readonly<Record<string, string>>;
  readonly timeouts?: { readonly idle_seconds?: number; readonly call_seconds?: number };
  readonly prices?: Readonly<Record<string, { readonly input: number; readonly output: number }>>;
  readonly promptCaching?: object;
  readonly concurrency?: number;
  readonly max_usd_per_run?: number;
  readonly retries?: { readonly attempts?: number; readonly first_pause_seconds?: number };
  readonly max_wait?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly projectDir?: string;
  /** Called with each record, beside `records`. */
  readonly record?: (record: CallRecord) => void;
}

/** Opens a runtime by the product's own factory, with the endpoint as the far end. */
export async function openRuntime(
  subject: Subject,
  endpoint: ModelEndpoint,
  around: RuntimeOverrides & { readonly machine: ClaudeHome },
): Promise<TestRuntime> {
  const { machine, models, record, ...others } = around;
  const { env = machine.env, projectDir = machine.projectDir, ...slice } = others;
  const provider = { backend: subject, ...providerBlock(subject, endpoint.url) };
  const records: CallRecord[] = [];
  const warnings: string[] = [];
  const pauses: Pause[] = [];
  const options: LlmOptions = {
    config: llmConfigSchema.parse({
      retries: { first_pause_seconds: 0.01 },
      ...slice,
      provider,
      models: { default: testModel, ...models },
    }),
    projectDir,
    env,
    run: 'test',
    secret: () => 'made-up',
    record: (added) => {
      records.push(added);
      record?.(added);
    },
    warn: (message) => warnings.push(message),
    onPause: (pause) => pauses.push(pause),
  };
  const runtime = await openLlm(options);
  if (runtime === undefined) throw new Error(`no runtime for ${subject}`);
  return { runtime, records, warnings, pauses };
}

function providerBlock(subject: Subject, url: string): object {
  const key = { api_key: 'env:MADE_UP' };
  switch (subject) {
    case 'anthropic':
      return { anthropic: { ...key, base_url: `${url}/v1` } };
    case 'openai':
      return { openai: { ...key, base_url: `${url}/v1` } };
    case 'gateway':
      return { gateway: { ...key, base_url: `${url}/v4/ai` } };
    case 'vertex':
      return { vertex: { project: 'test-project', location: 'global', base_url: `${url}/models` } };
    case 'claude-code':
      return {};
    default:
      return subject satisfies never;
  }
}

/**
 * A machine of its own, and for Google clients the endpoint as the place where tokens come from.
 */
export async function makeMachine(
  endpoint: ModelEndpoint,
  options: { readonly session?: boolean } = {},
): Promise<ClaudeHome> {
  process.env['GCE_METADATA_HOST'] = new URL(endpoint.url).host;
  process.env['METADATA_SERVER_DETECTION'] = 'assume-present';
  // Without it the client asks a gcloud program that may be there.
  process.env['GOOGLE_CLOUD_PROJECT'] = 'test-project';
  return makeClaudeHome(endpoint, options);
}

/** Says why a backend cannot run here; its cases are then skipped, never passed. */
export function missing(subject: Subject): string | undefined {
  return subject === 'claude-code' && claudeBinary() === undefined
    ? `no Claude Code binary for ${process.platform}-${process.arch}`
    : undefined;
}
