import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { checkSchema } from '../../lib/schema-check.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { BackendCall, CallWatch, ModelBackend } from '../port/backend.ts';
import type { PromptCaching } from '../config.ts';
import { LlmError } from '../port/error.ts';
import { jsonIn } from './json-text.ts';
import { providers, type Provider, type ProviderName } from './providers.ts';
import type { Session } from './request.ts';
import { run } from './run.ts';
import { openAiSdkSession } from './session.ts';

interface AiSdkOptions {
  readonly provider: ProviderName;
  /** The provider's block of `ktx.yaml`, with secrets in place of their references. */
  readonly config: unknown;
  readonly promptCaching?: PromptCaching | undefined;
  /** Asked to mend a malformed tool call. */
  readonly repairModel: string;
  readonly projectDir: string;
  /** Writes every request to `.ktx/logs/llm.jsonl`; so does `KTX_LLM_DEBUG=1`. */
  readonly recordRequests?: boolean;
}

/** The API providers behind the AI SDK. Opens nothing before the first call. */
export function openAiSdkBackend(options: AiSdkOptions): ModelBackend {
  const provider = served(options.provider);
  // The SDK would print what it thinks of a request.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  let opened: ReturnType<Provider['open']> | undefined;
  const session: Session = {
    provider,
    model: async (id) => (await (opened ??= provider.open(options.config)))(id),
    caching: options.promptCaching ?? {},
    repairModel: options.repairModel,
    projectDir: options.projectDir,
    secrets: secretsIn(options.config),
    isRecording: options.recordRequests ?? process.env['KTX_LLM_DEBUG'] === '1',
  };
  const account = async () => {
    const source = provider.account(options.config);
    return source === undefined ? undefined : { source, provider: provider.title };
  };
  return {
    text: (call) => text(session, call),
    object: (call) => object(session, call),
    loop: async (call) => {
      const { text: last, stopReason } = await run(session, call, { stepBudget: call.stepBudget });
      return { text: last, stopReason };
    },
    session: (call) => openAiSdkSession(session, call),
    probe: async (model, signal) => {
      const answer = await run(session, probeCall(model, signal), {
        stepBudget: 1,
        maxOutputTokens: 64,
        maxRetries: 0,
        isProbe: true,
      });
      return { model: answer.model, account: await account() };
    },
    account,
    close: () => Promise.resolve(),
  };
}

/** Under the one name that a key has in every block. */
function secretsIn(config: unknown): readonly string[] {
  const { data } = z.looseObject({ api_key: z.string().min(1) }).safeParse(config);
  return data === undefined ? [] : [data.api_key];
}

function served(name: string): Provider {
  if (Object.hasOwn(providers, name)) return providers[name as ProviderName];
  const message = `${name} is no LanguageModel backend: the AI SDK serves ${Object.keys(providers).join(', ')}.`;
  throw new UserError('llm_backend_not_served', message, { exitCode: 2 });
}

async function text(session: Session, call: Parameters<ModelBackend['text']>[0]): Promise<string> {
  const answer = await run(session, call, { stepBudget: call.stepBudget });
  if (answer.stopReason === 'budget') throw stepLimit(call.stepBudget);
  if (answer.text.trim() === '')
    throw new LlmError('invalid_output', 'The model answered with no text.');
  return answer.text;
}

async function object<T>(
  session: Session,
  call: BackendCall & { stepBudget: number; schema: z.ZodType<T> },
): Promise<T> {
  const schema = z.toJSONSchema(call.schema, { target: 'draft-7', io: 'input' });
  let refusal: LlmError | undefined;
  for (let tries = 0; tries < triesOfObject; tries += 1) {
    const prompt = refusal === undefined ? call.prompt : corrected(call.prompt, refusal);
    const answer = await run(session, { ...call, prompt }, { stepBudget: call.stepBudget, schema });
    if (answer.stopReason === 'budget') throw stepLimit(call.stepBudget);
    const { data, problems } = fitting(call.schema, jsonIn(answer.text));
    if (problems === undefined) return data;
    refusal = problems;
  }
  throw refusal ?? stepLimit(0);
}

/** Claude Code lets the model mend an object that does not fit; so does this. */
const triesOfObject = 3;

type Fitting<T> =
  | { readonly data: T; readonly problems?: undefined }
  | { readonly data?: undefined; readonly problems: LlmError };

function fitting<T>(schema: z.ZodType<T>, value: unknown): Fitting<T> {
  const invalid = (message: string): Fitting<T> => ({
    problems: new LlmError('invalid_output', message),
  });
  if (value === undefined)
    return invalid('The model answered without the object that it was asked for.');
  const { data, problems } = checkSchema(schema, value);
  if (problems === undefined) return { data };
  const lines = problems
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'object'}: ${message}`);
  return invalid(`The model's object does not fit its schema: ${lines.join('; ')}.`);
}

/** The refusal may quote the answer, and that may quote the warehouse. */
function corrected(prompt: string, { message }: LlmError): string {
  const last =
    'The last answer to this was refused, for the reason between the marks. Answer once more, with a whole object that fits.';
  return `${prompt}\n\n${last}\n${untrustedBlock('refusal', message)}`;
}

const stepLimit = (budget: number) =>
  new LlmError('step_limit', `The model had not answered after ${budget} turns.`);

function probeCall(model: string, signal: AbortSignal): BackendCall {
  const not = () => undefined;
  const watch: CallWatch = {
    signal,
    alive: not,
    step: not,
    apiCall: not,
    used: not,
    toolFailed: not,
    limit: not,
    warn: not,
  };
  const prompt = 'Reply with the word ready.';
  return {
    role: 'triage',
    model,
    prompt,
    system: undefined,
    tools: {},
    temperature: undefined,
    tags: { stage: 'probe' },
    watch,
  };
}
