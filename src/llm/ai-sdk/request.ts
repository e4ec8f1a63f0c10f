import { wrapLanguageModel, type LanguageModel, type LanguageModelMiddleware } from 'ai';
import type { BackendCall } from '../port/backend.ts';
import type { PromptCaching } from '../config.ts';
import type { UserError } from '../../lib/error.ts';
import { appendToLog } from '../../store/log.ts';
import { LlmError } from '../port/error.ts';
import { withCacheMarkers } from './cache.ts';
import { failedRequest, llmError } from './failure.ts';
import { isShortPause, limitsOf, refusedLimit } from './limits.ts';
import type { Provider } from './providers.ts';

/** What all calls of one backend share. */
export interface Session {
  readonly provider: Provider;
  readonly model: (id: string) => Promise<Exclude<LanguageModel, string>>;
  readonly caching: PromptCaching;
  readonly repairModel: string;
  readonly projectDir: string;
  readonly isRecording: boolean;
  /** Never to be shown. */
  readonly secrets: readonly string[];
}

/** The model of a call, with everything that ktx does to each single request: markers, counting, limits, recording. */
export async function watchedModel(
  session: Session,
  call: BackendCall,
  schema?: object,
): Promise<Exclude<LanguageModel, string>> {
  const { provider, caching } = session;
  const middleware: LanguageModelMiddleware = {
    transformParams: ({ params }) => {
      // The SDK's own `output` parses the whole text anew with every chunk: 20 s for an object of 40 kB.
      const asked =
        schema === undefined
          ? params
          : { ...params, responseFormat: { type: 'json' as const, schema } };
      return Promise.resolve(withCacheMarkers(asked, provider, { model: call.model, caching }));
    },
    wrapStream: async ({ doStream }) => {
      const { watch, role, model, tags } = call;
      watch.apiCall();
      const record = (entry: object) =>
        session.isRecording &&
        appendToLog(session.projectDir, 'llm', { role, model, tags, ...entry });
      try {
        const result = await doStream();
        for (const limit of limitsOf(result.response?.headers)) watch.limit(limit);
        record({ request: result.request?.body });
        return result;
      } catch (error) {
        const failure = inProvider(llmError(error, watch.signal, session.secrets), session);
        const { requestBodyValues: request, responseHeaders: headers } = failedRequest(error) ?? {};
        record({ request, failed: failure.code });
        const { kind } = failure instanceof LlmError ? failure : {};
        if (kind === 'rate_limit') watch.limit(refusedLimit(headers));
        // The SDK tries these again, with growing pauses or the one that was asked for; anything else ends the call here.
        const isTransient =
          kind === 'overloaded' ||
          kind === 'network' ||
          (kind === 'rate_limit' && isShortPause(headers));
        throw isTransient ? error : failure;
      }
    },
  };
  return wrapLanguageModel({ model: await session.model(call.model), middleware });
}

/** Where credentials come from the machine, a request that was never made is one that found none. */
function inProvider(failure: UserError, { provider }: Session): UserError {
  if (!(failure instanceof LlmError) || failure.kind !== 'unknown' || !provider.isAmbient)
    return failure;
  return new LlmError('auth', `${provider.title}: ${failure.message}`, { cause: failure.cause });
}
