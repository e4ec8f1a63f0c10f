import { suggestedBackend, usesLocalSession } from '../../llm/backends.ts';
import type { LlmStatus } from '../../project/setup/llm-setup.ts';
import type { UsageLine } from '../../llm/governor/usage.ts';
import { printable } from './text-width.ts';

const without = `llm: none. With one, prose is read, tables are described, doubtful joins judged: ktx setup --llm-backend ${suggestedBackend}`;

/** The state of the model backend, for a person. */
export function llmLines({
  backend,
  models,
  state,
  account,
  ignored,
  sendsSamples,
  error,
}: LlmStatus): readonly string[] {
  if (state === 'none') return [without];
  const roles = Object.entries(models).map(([role, model]) => `${role} ${model}`);
  const isLocal = usesLocalSession(backend);
  const good = isLocal ? 'local Claude Code session authenticated' : 'answers';
  const said = {
    ready: good,
    unverified: isLocal ? 'session found, not verified' : 'configured, not verified',
    broken: 'cannot be used',
  }[state];
  return [
    `llm: ${backend} (${roles.join(', ')}): ${said}`,
    ...(account === undefined ? [] : [`  account: ${printable(account)}`]),
    ...ignored.map((line) => `  ignored: ${line}`),
    ...(error === undefined ? [] : [`  ${printable(error.message)}`]),
    `  ${sendsSamples ? 'frequent values of columns go to the model, but for those that look personal' : 'no values of columns go to the model'} (scan.send_samples)`,
  ];
}

/** `1,234 in, 56 out, 7,890 cached, $0.0123`. */
export function usageText(lines: readonly UsageLine[]): string {
  const sum = (read: (line: UsageLine) => number): string =>
    lines.reduce((total, line) => total + read(line), 0).toLocaleString('en-US');
  const known = lines.filter(({ costUsd }) => costUsd !== null);
  const cost = known.reduce((total, { costUsd }) => total + (costUsd ?? 0), 0);
  const reason = lines.find(({ costReason }) => costReason !== undefined)?.costReason;
  const money =
    known.length === 0
      ? `cost unknown: ${reason ?? 'not told'}`
      : `$${cost.toFixed(4)}${reason === undefined ? '' : ` known, the rest not: ${reason}`}`;
  const calls = lines.reduce((total, line) => total + line.calls, 0);
  return `${calls === 1 ? '1 model call' : `${calls} model calls`}: ${sum((line) => line.input)} tokens in, ${sum((line) => line.output)} out, ${sum((line) => line.cacheRead)} from the cache; ${money}`;
}
