import { wrapLanguageModel, type LanguageModel, type LanguageModelMiddleware } from 'ai';
import type { UserError } from '../../lib/error.ts';
import { appendToLog } from '../../store/log.ts';
import type { PromptCaching } from '../config.ts';
import type { BackendCall } from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import { addCacheMarkers } from './cache.ts';
import { failedRequest, toLlmError } from './failure.ts';
import { exceededLimit, isShortPause, limitsFromHeaders } from './limits.ts';
import type { Provider } from './providers.ts';

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
    wrapStream: async ({ doStream }) => {
      call.monitor.requestSent();
      try {
        const result = await doStream();
        for (const limit of limitsFromHeaders(result.response?.headers))
          call.monitor.limitReported(limit);
        recordRequest(context, call, { request: result.request?.body });
        return result;
      } catch (error) {
        throw reportFailedRequest(context, call, error);
      }
    },
  };
  return wrapLanguageModel({ model: await context.model(call.model), middleware });
}

/** What a request needs to say why it failed. */
type RequestContext = Pick<AiSdkContext, 'secrets' | 'isRecording' | 'projectDir'> & {
  readonly provider: Pick<Provider, 'title' | 'isAmbient'>;
};
type RequestCall = Pick<BackendCall, 'monitor' | 'model' | 'tags'> & { readonly role: string };

/** Returns the error to throw: the SDK retries its own errors and gives up on ours. */
export function reportFailedRequest(
  context: RequestContext,
  call: RequestCall,
  error: unknown,
): unknown {
  const { monitor } = call;
  const failure = explainMissingCredentials(
    toLlmError(error, monitor.signal, context.secrets),
    context,
  );
  const { requestBodyValues: request, responseHeaders: headers } = failedRequest(error) ?? {};
  recordRequest(context, call, { request, failed: failure.code });
  const kind = failure instanceof LlmError ? failure.kind : undefined;
  if (kind === 'rate_limit') monitor.limitReported(exceededLimit(headers));
  const isTransient =
    kind === 'overloaded' || kind === 'network' || (kind === 'rate_limit' && isShortPause(headers));
  return isTransient ? error : failure;
}

function recordRequest(
  { isRecording, projectDir }: RequestContext,
  { role, model, tags }: RequestCall,
  entry: object,
): void {
  if (isRecording) appendToLog(projectDir, 'llm', { role, model, tags, ...entry });
}

/** If credentials come from the machine, a failure before the request means that none were found. */
function explainMissingCredentials(failure: UserError, { provider }: RequestContext): UserError {
  if (!(failure instanceof LlmError) || failure.kind !== 'unknown' || !provider.isAmbient)
    return failure;
  return new LlmError('auth', `${provider.title}: ${failure.message}`, { cause: failure.cause });
}
