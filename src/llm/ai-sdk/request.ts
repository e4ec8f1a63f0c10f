import { wrapLanguageModel, type LanguageModel, type LanguageModelMiddleware } from 'ai';
import type { UserError } from '../../lib/error.ts';
import { appendToLog } from '../../store/log.ts';
import type { PromptCaching } from '../config.ts';
import { exceededLimit, limitsFromHeaders } from '../faults/limit-headers.ts';
import type { BackendCall } from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import { addCacheMarkers } from './cache.ts';
import { failedRequest, toLlmError } from './failure.ts';
import type { Provider } from './providers.ts';
import { readAnswer, UsedInVain, type OpenedStream } from './read-answer.ts';

type RequestModel = Exclude<LanguageModel, string>;

/** What all calls of one backend share. */
export interface AiSdkContext {
  readonly provider: Provider;
  readonly model: (id: string) => Promise<RequestModel>;
  readonly caching: PromptCaching;
  readonly repairModel: string;
  readonly projectDir: string;
  readonly isRecording: boolean;
  /** Removed from every message. */
  readonly secrets: readonly string[];
}

/** The model of a call. Each of its requests gets cache markers, is counted, and reports limits. */
export async function modelForCall(
  context: AiSdkContext,
  call: BackendCall,
  schema?: object,
): Promise<RequestModel> {
  const { provider, caching } = context;
  const middleware: LanguageModelMiddleware = {
    transformParams: ({ params }) => {
      // The SDK's own `output` parses the whole text again with each chunk: 20 s for 40 kB of JSON.
      const withFormat =
        schema === undefined
          ? params
          : { ...params, responseFormat: { type: 'json' as const, schema } };
      return Promise.resolve(addCacheMarkers(withFormat, provider, { model: call.model, caching }));
    },
    wrapStream: ({ doStream }) => askUntilAnswered(context, call, doStream),
  };
  return wrapLanguageModel({ model: await context.model(call.model), middleware });
}

/** What a request needs to say why it failed. */
type RequestContext = Pick<AiSdkContext, 'secrets' | 'isRecording' | 'projectDir'> & {
  readonly provider: Pick<Provider, 'title' | 'isAmbient'>;
};
type RequestCall = Pick<BackendCall, 'monitor' | 'model' | 'tags'> & { readonly role: string };

/** Sends one request until it is answered in full, as often as the governor allows. */
async function askUntilAnswered(
  context: AiSdkContext,
  call: BackendCall,
  doStream: () => PromiseLike<OpenedStream>,
): Promise<OpenedStream> {
  const { monitor } = call;
  for (;;) {
    monitor.requestSent();
    let hasBegun = false;
    try {
      const result = await doStream();
      hasBegun = true;
      monitor.answerBegan();
      for (const limit of limitsFromHeaders(result.response?.headers)) monitor.limitReported(limit);
      recordRequest(context, call, { request: result.request?.body });
      return { ...result, stream: await readAnswer(result.stream, call) };
    } catch (error) {
      if (error instanceof UsedInVain) monitor.addUsage(call.model, error.tokens);
      else if (hasBegun) monitor.addUsage(call.model, noTokens, null);
      const cause: unknown = error instanceof UsedInVain ? error.cause : error;
      await monitor.retry(reportFailedRequest(context, call, cause));
      if (hasBegun) monitor.listener?.startedAgain();
    }
  }
}

const noTokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Explains a failed request, and reports the limit that it met. */
export function reportFailedRequest(
  context: RequestContext,
  call: RequestCall,
  error: unknown,
): UserError {
  const { monitor } = call;
  const failure = explainMissingCredentials(
    toLlmError(error, monitor.signal, context.secrets),
    context,
  );
  const { requestBodyValues: request, responseHeaders: headers } = failedRequest(error) ?? {};
  recordRequest(context, call, { request, failed: failure.code });
  const isLimit = failure instanceof LlmError && failure.kind === 'rate_limit';
  if (isLimit) monitor.limitReported(exceededLimit(headers));
  return failure;
}

function recordRequest(
  { isRecording, projectDir }: RequestContext,
  { role, model, tags }: RequestCall,
  entry: object,
): void {
  if (isRecording) appendToLog(projectDir, 'llm', { role, model, tags, ...entry });
}

/**
 * If credentials come from the machine, a failure before the request means that none were found.
 */
function explainMissingCredentials(failure: UserError, { provider }: RequestContext): UserError {
  if (!(failure instanceof LlmError) || failure.kind !== 'unknown' || !provider.isAmbient)
    return failure;
  return new LlmError('auth', `${provider.title}: ${failure.message}`, { cause: failure.cause });
}
