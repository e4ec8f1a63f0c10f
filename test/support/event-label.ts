export interface Event {
  readonly type: string;
  readonly [key: string]: unknown;
}

/**
 * The kind of an event of an ingest, as its line of output has it: what it ends, or is a step of.
 */
export function labelOf(event: Event): string {
  const parts = [event.type, event['stage'], event['step']];
  return parts.filter((part) => typeof part === 'string').join(' ');
}
