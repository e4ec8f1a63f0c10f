import type { Pause } from '../llm/governor/call-gate.ts';
import { escapeControls } from './terminal/text-width.ts';

const retryReasons: Readonly<Record<string, string>> = {
  network: 'The connection to the model provider failed',
  overloaded: 'The model provider is overloaded or failing',
  rate_limit: "The model provider's limit is reached",
};

/** The same for a line that shows the time left. */
export function pauseStep({ window, retry }: Pause): string {
  if (retry === undefined)
    return `rate limit of the model provider (${escapeControls(window.replaceAll('_', ' '))}), waiting`;
  const reason = retryReasons[retry.kind] ?? 'A request to the model failed';
  return `${reason}; attempt ${retry.attempt} of ${retry.attempts}`;
}

/** What a person is told while calls wait. */
export function pauseNote({ window, until, retry }: Pause): string {
  const time = until.toLocaleTimeString();
  if (retry !== undefined) {
    const reason = retryReasons[retry.kind] ?? 'A request to the model failed';
    return `${reason}; attempt ${retry.attempt} of ${retry.attempts} at ${time}.`;
  }
  const limit = escapeControls(window.replaceAll('_', ' '));
  return `Rate limit of the model provider reached (${limit}); continuing at ${time}. Press Ctrl-C to stop; finished work is kept.`;
}
