import { formatCount } from '../../../lib/format-count.ts';
import type { IngestEvent } from '../../../ingest/event.ts';
import { describeStep } from '../../../ingest/step-text.ts';
import type { Progress } from '../../terminal/progress.ts';
import { printable } from '../../terminal/text-width.ts';

type Of<Type extends IngestEvent['type']> = Extract<IngestEvent, { readonly type: Type }>;

/** Follows a run: what a person sees after each event; undefined where it changes nothing to be seen. */
export function openIngestView(): (event: IngestEvent) => Progress | undefined {
  const units = new Map<string, string>();
  let planned: Of<'work_units_planned'> | undefined;
  let [done, before, claims] = [0, 0, 0];
  let usage: Of<'llm_usage'> | undefined;
  const below = (): string[] => {
    const running = [...units.values()].slice(0, shownUnits).map((text) => `  ${printable(text)}`);
    const more = units.size > shownUnits ? [`  … and ${units.size - shownUnits} more at once`] : [];
    const sums = [
      done === 0 ? [] : `${formatCount(done, 'unit')} done, ${formatCount(claims, 'claim')}`,
      usage === undefined ? [] : spent(usage),
    ];
    return [
      ...running,
      ...more,
      ...(done === 0 && usage === undefined ? [] : [`  ${sums.flat().join(' · ')}`]),
    ];
  };
  return (event) => {
    if (event.type === 'llm_usage') usage = event;
    if (event.type === 'work_units_planned') [planned, before] = [event, done];
    if (event.type === 'work_unit_started')
      units.set(event.unit, describeStep(event) ?? event.unit);
    if (event.type === 'work_unit_step') units.set(event.unit, describeStep(event) ?? event.unit);
    if (event.type === 'work_unit_finished') {
      units.delete(event.unit);
      done += 1;
      claims += event.claims;
    }
    if (event.type.startsWith('work_unit') || (event.type === 'llm_usage' && units.size > 0)) {
      const counts = planned && { done: done - before, total: planned.units };
      return { step: stageNames[planned?.stage ?? 'extract'], counts, below: below() };
    }
    const step = describeStep(event);
    if (step === undefined) return undefined;
    const counts =
      event.type === 'description_progressed' ||
      (event.type === 'scan_progressed' && event.step === 'profile')
        ? event
        : undefined;
    return { step, counts, below: usage === undefined ? [] : below() };
  };
}

const stageNames = {
  triage: 'looking over pages',
  light: 'skimming pages',
  extract: 'reading prose',
} as const;
const shownUnits = 6;

/** `12 calls, 34,567 tokens, $0.0312` */
function spent({ calls, input, output, cacheRead, cacheWrite, costUsd }: Of<'llm_usage'>): string {
  const tokens = (input + output + cacheRead + cacheWrite).toLocaleString('en-US');
  return `${formatCount(calls, 'call')}, ${tokens} tokens, ${costUsd === null ? 'cost unknown' : `$${costUsd.toFixed(4)}`}`;
}
