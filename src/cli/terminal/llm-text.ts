import { suggestedBackend, usesLocalSession } from '../../llm/backends.ts';
import type { UsageLine } from '../../llm/governor/usage.ts';
import type { ProgramReport } from '../../llm/port/backend.ts';
import type { LlmStatus, ModelStatus } from '../../project/setup/llm-status.ts';
import { escapeControls } from './text-width.ts';

const noLlmLine = `llm: none. With one, ktx reads prose, describes tables and judges doubtful joins: ktx setup --llm-backend ${suggestedBackend}`;

/** The state of the configured model backend, as lines for a person. */
export function describeLlm(status: LlmStatus): readonly string[] {
  const { backend, models, state, account, ignored, notes, program, sendsSamples, error, checks } =
    status;
  if (state === 'none') return [noLlmLine];
  const roles = Object.entries(models).map(([role, model]) => `${role} ${model}`);
  const isShown = checks.some((check) => check.error !== undefined);
  const isLocal = usesLocalSession(backend);
  const stateText = {
    ready: isLocal ? 'local Claude Code session authenticated' : 'reachable',
    unverified: isLocal ? 'session found, not verified' : 'configured, not verified',
    unapproved: 'not approved on this machine, so it is not used: ktx trust',
    broken: 'cannot be used',
  }[state];
  const samples = sendsSamples
    ? 'frequent column values are sent to the model, except those that look personal'
    : 'no column values are sent to the model';
  return [
    `llm: ${backend} (${roles.join(', ')}): ${stateText}`,
    ...(account === undefined ? [] : [`  account: ${escapeControls(account)}`]),
    ...(program === undefined ? [] : [`  program: ${describeProgram(program)}`]),
    ...ignored.map((line) => `  ignored: ${line}`),
    ...notes.map((line) => `  takes part: ${escapeControls(line)}`),
    ...checks.map(modelLine),
    ...(error === undefined || isShown ? [] : [`  ${escapeControls(error.message)}`]),
    `  ${samples} (scan.send_samples)`,
  ];
}

export const modelWords: Readonly<Record<ModelStatus['state'], string>> = {
  works: 'answers',
  broken: 'cannot be used',
  unverified: 'not verified',
};

function modelLine({ model, state, answeredAt, error }: ModelStatus): string {
  const when = answeredAt === undefined ? '' : `, asked at ${answeredAt.slice(0, 16)}Z`;
  const detail = error === undefined ? when : `: ${error.message}`;
  return escapeControls(`  model ${model} ${modelWords[state]}${detail}`);
}

/** `/usr/bin/claude (2.1.325): it is your own, and ktx is tested with its version` */
export function describeProgram({ path, kind, version, reason }: ProgramReport): string {
  const name = kind === 'bundled' ? 'the one that comes with ktx' : path;
  return escapeControls(`${name} (${version ?? 'version unknown'}): ${reason}`);
}

/** `2 model calls: 1,234 tokens in, 56 out, 7,890 from the cache; $0.0123` */
export function describeUsage(lines: readonly UsageLine[]): string {
  const sum = (count: (line: UsageLine) => number): string =>
    lines.reduce((total, line) => total + count(line), 0).toLocaleString('en-US');
  const calls = lines.reduce((total, line) => total + line.calls, 0);
  const tokens = [
    `${sum((line) => line.input)} tokens in`,
    `${sum((line) => line.output)} out`,
    `${sum((line) => line.cacheRead)} from the cache`,
  ];
  return `${calls === 1 ? '1 model call' : `${calls} model calls`}: ${tokens.join(', ')}; ${costText(lines)}`;
}

function costText(lines: readonly UsageLine[]): string {
  const known = lines.filter(({ costUsd }) => costUsd !== null);
  const cost = known.reduce((total, { costUsd }) => total + (costUsd ?? 0), 0);
  const reason = lines.find(({ costReason }) => costReason !== undefined)?.costReason;
  if (known.length === 0) return `cost unknown: ${reason ?? 'the provider did not report it'}`;
  return `$${cost.toFixed(4)}${reason === undefined ? '' : ` known, the rest unknown: ${reason}`}`;
}
