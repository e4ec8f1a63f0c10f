import type { IngestEvent } from '../../../ingest/event.ts';
import { describeStep } from '../../../ingest/step-text.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Progress } from '../../terminal/progress.ts';
import { escapeControls } from '../../terminal/text-width.ts';

type IngestEventOf<Type extends IngestEvent['type']> = Extract<
  IngestEvent,
  { readonly type: Type }
>;

const maxShownUnits = 6;

const stageVerbs = {
  triage: 'triaging pages',
  light: 'skimming pages',
  extract: 'reading prose',
} as const;

/**
 * Follows a run. Returns the progress to show after each event; undefined if the event changes
 * nothing.
 */
export function openIngestView(): (event: IngestEvent) => Progress | undefined {
  const runningUnits = new Map<string, string>();
  let planned: IngestEventOf<'work_units_planned'> | undefined;
  let [done, doneBeforeStage, claims] = [0, 0, 0];
  let usage: IngestEventOf<'llm_usage'> | undefined;
  const detailLines = (): string[] => {
    const units = [...runningUnits.values()]
      .slice(0, maxShownUnits)
      .map((text) => `  ${escapeControls(text)}`);
    const hidden = runningUnits.size - units.length;
    const totals = [
      ...(done === 0 ? [] : [`${formatCount(done, 'unit')} done, ${formatCount(claims, 'claim')}`]),
      ...(usage === undefined ? [] : [usageText(usage)]),
    ];
    return [
      ...units,
      ...(hidden > 0 ? [`  … and ${hidden} more at once`] : []),
      ...(totals.length === 0 ? [] : [`  ${totals.join(' · ')}`]),
    ];
  };
  const record = (event: IngestEvent): void => {
    if (event.type === 'llm_usage') usage = event;
    if (event.type === 'work_units_planned') [planned, doneBeforeStage] = [event, done];
    if (event.type === 'work_unit_started' || event.type === 'work_unit_step')
      runningUnits.set(event.unit, describeStep(event) ?? event.unit);
    if (event.type === 'work_unit_finished') {
      runningUnits.delete(event.unit);
      done += 1;
      claims += event.claims;
    }
  };
  return (event) => {
    record(event);
    const isUnitEvent =
      event.type.startsWith('work_unit') || (event.type === 'llm_usage' && runningUnits.size > 0);
    if (isUnitEvent) {
      const counts = planned && { done: done - doneBeforeStage, total: planned.units };
      return { step: stageVerbs[planned?.stage ?? 'extract'], counts, details: detailLines() };
    }
    const step = describeStep(event);
    if (step === undefined) return undefined;
    const hasCounts =
      event.type === 'description_progressed' ||
      (event.type === 'scan_progressed' && event.step === 'profile');
    return {
      step,
      counts: hasCounts ? event : undefined,
      details: usage === undefined ? [] : detailLines(),
    };
  };
}

/** `12 calls, 34,567 tokens, $0.0312` */
function usageText(usage: IngestEventOf<'llm_usage'>): string {
  const { calls, input, output, cacheRead, cacheWrite, costUsd } = usage;
  const tokens = (input + output + cacheRead + cacheWrite).toLocaleString('en-US');
  const cost = costUsd === null ? 'cost unknown' : `$${costUsd.toFixed(4)}`;
  return `${formatCount(calls, 'call')}, ${tokens} tokens, ${cost}`;
}
