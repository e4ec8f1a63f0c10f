import { formatCount } from '../lib/format-count.ts';
import type { IngestEvent } from './event.ts';

type EventTexts = {
  readonly [Type in IngestEvent['type']]?: (
    event: Extract<IngestEvent, { readonly type: Type }>,
  ) => string;
};

const stageVerbs = { triage: 'looking over', light: 'skimming', extract: 'reading' } as const;

/** Events that are not listed begin nothing. */
const texts: EventTexts = {
  lock_awaited: ({ message }) => message,
  connection_started: ({ connection }) => `reading ${connection}`,
  // The last phase takes its time with measurements and a model's judgement; its tables are all
  // done.
  scan_progressed: ({ connection, step }) =>
    `${connection}: ${step === 'links' ? 'weighing joins' : step}`,
  server_awaited: ({ connection, host, until }) =>
    `${connection}: ${host} asks to wait until ${new Date(until).toLocaleTimeString()}`,
  description_progressed: ({ connection }) => `${connection}: describing tables`,
  work_units_planned: ({ stage, units }) => `${stageVerbs[stage]} ${formatCount(units, 'unit')}`,
  work_unit_started: ({ stage, unit, items }) =>
    `${stageVerbs[stage]} ${unit}${items.length > 1 ? ` (${formatCount(items.length, 'item')})` : ''}`,
  work_unit_step: ({ unit, stepIndex, stepBudget }) =>
    `reading ${unit} · step ${stepIndex} of ${stepBudget}`,
  curate_step: ({ stepIndex }) => `Placing terms and rules · step ${stepIndex}`,
  reconcile_step: ({ stepIndex }) => `Reconciling results · step ${stepIndex}`,
  rate_limited: ({ resetsAt }) =>
    `waiting for the model provider until ${new Date(resetsAt).toLocaleTimeString()}`,
  model_retried: ({ attempt, attempts }) =>
    `asking the model again · attempt ${attempt} of ${attempts}`,
  publish_step: () => 'writing',
};

/** What the run is doing now, for a person; undefined if the event does not begin anything. */
export function describeStep(event: IngestEvent): string | undefined {
  const describe = texts[event.type] as ((event: IngestEvent) => string) | undefined;
  return describe?.(event);
}
