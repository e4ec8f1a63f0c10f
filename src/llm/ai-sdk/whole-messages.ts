import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import { LlmError } from '../port/error.ts';

const endOfMessage = z.looseObject({
  type: z.literal('message_delta'),
  delta: z.looseObject({ stop_reason: z.string() }),
});
const lastEvent = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/**
 * A `fetch` for Anthropic's Messages protocol. An answer is complete once the provider has said why
 * it ends, and how much it used: only an empty line follows. If that line is lost, the answer still
 * counts, as it does for Claude Code.
 */
export const fetchWholeMessages: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(untilEnd(response.body), { status, statusText, headers });
};

/** The events up to the reason why the answer ends, and the last line of a stream. */
function untilEnd(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array> {
  let pending = '';
  let isFirst = true;
  const events = new TransformStream<string, string>({
    transform(chunk, controller) {
      const parts = (pending + chunk).split(/(?<=\n\n|\r\n\r\n)/);
      pending = parts.pop() ?? '';
      if (/\n\r?\n$/.test(pending)) {
        parts.push(pending);
        pending = '';
      }
      for (const event of parts) {
        const data = dataOf(event);
        // The SDK has no name for such a line where the first of a stream should be.
        if (isFirst && data !== '' && parseJson(data) === undefined) throw brokenLine();
        isFirst = false;
        controller.enqueue(event);
        if (!endOfMessage.safeParse(parseJson(data)).success) continue;
        controller.enqueue(lastEvent);
        controller.terminate();
        return;
      }
    },
    flush(controller) {
      controller.enqueue(pending);
    },
  });
  return body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(events)
    .pipeThrough(new TextEncoderStream());
}

function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join('\n')
    .trim();
}

function brokenLine(): LlmError {
  return new LlmError('network', 'A line of the answer was broken on its way.');
}
