import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { checkSchema } from '../../lib/schema-check.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { PromptCaching } from '../config.ts';
import type { AccountReport, BackendCall, LoopCall, ModelBackend } from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import { silentMonitor } from '../port/silent-monitor.ts';
import { extractJson } from './json-text.ts';
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

/** A backend for the API providers, through the AI SDK. Connects to nothing before the first call. */
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
        maxRetries: 0,
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

/** As many tries as on the other backends. */
const maxObjectTries = 3;

async function generateObject<T>(
  context: AiSdkContext,
  call: LoopCall & { readonly schema: z.ZodType<T> },
): Promise<T> {
  const { stepBudget } = call;
  const schema = z.toJSONSchema(call.schema, { target: 'draft-7', io: 'input' });
  let problem = '';
  for (let tries = 0; tries < maxObjectTries; tries += 1) {
    const prompt = problem === '' ? call.prompt : correctionPrompt(call.prompt, problem);
    const answer = await streamCall(context, { ...call, prompt }, { stepBudget, schema });
    if (answer.stopReason === 'budget') throw stepLimitError(stepBudget);
    const parsed = parseObject(call.schema, extractJson(answer.text));
    if (parsed.problem === undefined) return parsed.data;
    problem = parsed.problem;
  }
  throw new LlmError('invalid_output', problem);
}

type ParsedObject<T> =
  | { readonly data: T; readonly problem?: undefined }
  | { readonly data?: undefined; readonly problem: string };

function parseObject<T>(schema: z.ZodType<T>, value: unknown): ParsedObject<T> {
  if (value === undefined)
    return { problem: 'The model answered without the object that it was asked for.' };
  const { data, problems } = checkSchema(schema, value);
  if (problems === undefined) return { data };
  const lines = problems
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'object'}: ${message}`);
  return { problem: `The model's object does not fit its schema: ${lines.join('; ')}.` };
}

/** The problem is marked as data: it may quote the answer, which may quote the warehouse. */
function correctionPrompt(prompt: string, problem: string): string {
  const instruction =
    'Your last answer to this was refused for the reason between the marks. Answer again, with a complete object that fits.';
  return `${prompt}\n\n${instruction}\n${untrustedBlock('refusal', problem)}`;
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
