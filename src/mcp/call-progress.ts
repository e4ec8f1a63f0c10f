import type { ServerContext } from '@modelcontextprotocol/server';

/** The progress of a call, as its client sees it. */
export type CallProgress = NonNullable<ReturnType<typeof startProgress>>;

/**
 * Sends progress every second if the client asked for it, so that it does not give up on a long
 * query.
 */
export function startProgress({ mcpReq: { _meta: meta, notify } }: ServerContext) {
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  let step = '';
  let wait: string | undefined;
  const timer = setInterval(() => {
    progress += 1;
    const params = {
      progressToken,
      progress,
      message: wait ?? (step === '' ? `running for ${progress} s` : step),
    };
    // The client may be gone; the signal then ends the call.
    notify({ method: 'notifications/progress', params }).catch(() => clearInterval(timer));
  }, 1000);
  return {
    report: (text: string) => void (step = text),
    /** Why nothing runs at the moment; undefined once it does. */
    reportWait: (reason: string | undefined) => void (wait = reason),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
