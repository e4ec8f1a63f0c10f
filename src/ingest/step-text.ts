import { formatCount } from '../lib/format-count.ts';
import type { IngestEvent } from './event.ts';

/** What runs now, in words for a person; undefined where the event begins nothing. */
export function describeStep(event: IngestEvent): string | undefined {
  switch (event.type) {
    case 'lock_awaited':
      return event.message;
    case 'connection_started':
      return `reading ${event.connection}`;
    case 'scan_progressed':
      // The tables are done by then; what takes its time are measurements, and a model's judgement where there is one.
      return `${event.connection}: ${event.step === 'links' ? 'weighing joins' : event.step}`;
    case 'description_progressed':
      return `${event.connection}: describing tables`;
    case 'work_units_planned':
      return `${verbs[event.stage]} ${formatCount(event.units, 'unit')}`;
    case 'work_unit_started':
      return `${verbs[event.stage]} ${event.unit}${event.items.length > 1 ? ` (${formatCount(event.items.length, 'item')})` : ''}`;
    case 'work_unit_step':
      return `reading ${event.unit} · step ${event.stepIndex} of ${event.stepBudget}`;
    case 'curate_step':
      return `Placing terms and rules · step ${event.stepIndex}`;
    case 'reconcile_step':
      return `Reconciling results · step ${event.stepIndex}`;
    case 'rate_limited':
      return `waiting for the model provider until ${new Date(event.resetsAt).toLocaleTimeString()}`;
    case 'publish_step':
      return 'writing';
    case 'work_unit_finished':
    case 'items_fetched':
    case 'llm_usage':
    case 'published':
      return undefined;
  }
  return event satisfies never;
}

const verbs = { triage: 'looking over', light: 'skimming', extract: 'reading' } as const;
