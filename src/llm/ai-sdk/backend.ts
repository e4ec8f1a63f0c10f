import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { PromptCaching } from '../config.ts';
import type { AccountReport, BackendCall, LoopCall, ModelBackend } from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import { silentMonitor } from '../port/silent-monitor.ts';
import { extractJson } from '../port/json-text.ts';
import { providers, type Provider, type ProviderName } from './providers.ts';
import type { AiSdkContext } from './request.ts';
import { openAiSdkSession } from './session.ts';
import { streamCall } from './stream-call.ts';

interface AiSdkOptions {
  readonly provider: ProviderName;
  /** The provider's block of `ktx.yaml`, with every secret reference replaced by its value. */
  readonly config: unknown;
  readonly promptCaching?: PromptCaching | undefined;
  /** Corrects malformed tool calls. */
  readonly repairModel: string;
  readonly projectDir: string;
  /** Writes every request to `.ktx/logs/llm.jsonl`. `KTX_LLM_DEBUG=1` does the same. */
  readonly recordRequests?: boolean;
}

/**
 * A backend for the API providers, through the AI SDK. Connects to nothing before the first call.
 */
export function openAiSdkBackend(options: AiSdkOptions): ModelBackend {
  const provider = findProvider(options.provider);
  // Otherwise the SDK prints warnings about requests.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  let opened: ReturnType<Provider['open']> | undefined;
  const context: AiSdkContext = {
    provider,
    model: async (id) => (await (opened ??= provider.open(options.config)))(id),
    caching: options.promptCaching ?? {},
    repairModel: options.repairModel,
    projectDir: options.projectDir,
    secrets: configuredSecrets(options.config),
    isRecording: options.recordRequests ?? process.env['KTX_LLM_DEBUG'] === '1',
  };
  const account = async (): Promise<AccountReport | undefined> => {
    const source = provider.account(options.config);
    if (source === undefined) return undefined;
    const id = sha256(canonicalJson([options.config, ambientCredentials(provider)]));
    return { source, provider: provider.title, id };
  };
  return {
    text: (call) => generateText(context, call),
    object: (call) => generateObject(context, call),
    loop: async (call) => {
      const { text, stopReason } = await streamCall(context, call, { stepBudget: call.stepBudget });
      return { text, stopReason };
    },
    session: (spec) => openAiSdkSession(context, spec),
    probe: async (model, signal) => {
      const answer = await streamCall(context, probeCall(model, signal), {
        stepBudget: 1,
        maxOutputTokens: 64,
        acceptsCutAnswer: true,
      });
      return { model: answer.model, account: await account() };
    },
    account,
    close: () => Promise.resolve(),
  };
}

/** What decides which account of a cloud is used. Only its hash leaves this file. */
function ambientCredentials({ isAmbient }: Provider): readonly unknown[] {
  const names = /^(?:AWS|GOOGLE|GCLOUD|CLOUDSDK)_/;
  return isAmbient === true ? Object.entries(process.env).filter(([name]) => names.test(name)) : [];
}

/** The provider's key has the same name in every block. */
function configuredSecrets(config: unknown): readonly string[] {
  const { data } = z.looseObject({ api_key: z.string().min(1) }).safeParse(config);
  return data === undefined ? [] : [data.api_key];
}

function findProvider(name: string): Provider {
  if (Object.hasOwn(providers, name)) return providers[name as ProviderName];
  const names = Object.keys(providers).join(', ');
  const message = `${name} is not a LanguageModel backend: the AI SDK serves ${names}.`;
  throw new UserError('llm_backend_not_served', message, { exitCode: 2 });
}

async function generateText(context: AiSdkContext, call: LoopCall): Promise<string> {
  const answer = await streamCall(context, call, { stepBudget: call.stepBudget });
  if (answer.stopReason === 'budget') throw stepLimitError(call.stepBudget);
  if (answer.text.trim() === '')
    throw new LlmError('invalid_output', 'The model answered with no text.');
  return answer.text;
}

async function generateObject(
  context: AiSdkContext,
  call: LoopCall & { readonly schema: z.ZodType },
): Promise<unknown> {
  const { stepBudget } = call;
  const schema = z.toJSONSchema(call.schema, { target: 'draft-7', io: 'input' });
  const answer = await streamCall(context, call, { stepBudget, schema });
  if (answer.stopReason === 'budget') throw stepLimitError(stepBudget);
  return extractJson(answer.text);
}

function stepLimitError(budget: number): LlmError {
  return new LlmError('step_limit', `The model had not answered after ${budget} turns.`);
}

function probeCall(model: string, signal: AbortSignal): BackendCall {
  return {
    role: 'triage',
    model,
    prompt: 'Reply with the word ready.',
    system: undefined,
    tools: {},
    temperature: undefined,
    tags: { stage: 'probe' },
    monitor: silentMonitor(signal),
  };
}
