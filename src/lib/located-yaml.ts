import {
  constructFromEvents,
  CORE_SCHEMA,
  EVENT_ID,
  type Event,
  getScalarValue,
  mergeTag,
  parseEvents,
  YAMLException,
} from 'js-yaml';

/**
 * The position of a value: the line of its key, or of itself, from 1, and the text of both as in
 * the file.
 */
export interface YamlLocation {
  readonly line: number;
  readonly text: string;
}

export interface LocatedYaml {
  readonly documents: readonly unknown[];
  /**
   * The location of a mapping or list, or of its value at `key`; that of the holder if the value
   * has none of its own.
   */
  readonly locate: (holder: unknown, key?: string | number) => YamlLocation;
}

/** Why a text is not YAML. */
export interface BrokenYaml {
  readonly line: number;
  readonly reason: string;
}

/** Allows merge keys (`<<`), which older tools write. Dates stay text. */
const yamlSchema = CORE_SCHEMA.withTags(mergeTag);

/** Parses YAML and records the location of every value, in one pass over the parser's events. */
export function readLocatedYaml(text: string): LocatedYaml | { readonly broken: BrokenYaml } {
  try {
    const events = parseEvents(text, {});
    const documents = constructFromEvents(events, {
      source: text,
      schema: yamlSchema,
      json: true,
      maxAliases: 1000,
    });
    const spans = new Map<unknown, NodeSpan>();
    let at = 0;
    const next = () => events[at++];
    for (const document of documents) {
      // Each document stands between its own event and a closing one.
      next();
      walkValue({ text, next, spans }, document);
      next();
    }
    const starts = lineStarts(text);
    const locationOf = (start: number, end: number) => ({
      line: lineAtOffset(starts, start),
      text: text.slice(start, end).trim(),
    });
    return {
      documents,
      locate: (holder, key) => {
        const own = spans.get(holder);
        const [start, end] = (key === undefined ? undefined : own?.members.get(String(key))) ?? [
          own?.start ?? 0,
          own?.end ?? 0,
        ];
        return locationOf(start, end);
      },
    };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { broken: { line: (error.mark?.line ?? 0) + 1, reason: error.reason } };
  }
}

interface NodeSpan {
  readonly start: number;
  readonly end: number;
  readonly members: ReadonlyMap<string, readonly [start: number, end: number]>;
}

interface EventWalk {
  readonly text: string;
  readonly next: () => Event | undefined;
  readonly spans: Map<unknown, NodeSpan>;
}

/** Consumes the events of one value. Returns where it starts and ends. */
function walkValue(
  state: EventWalk,
  value: unknown,
  event = state.next(),
): readonly [start: number, end: number] {
  if (event?.type === EVENT_ID.SCALAR) return [event.valueStart, event.valueEnd];
  if (event?.type === EVENT_ID.ALIAS) return [event.anchorStart, event.anchorEnd];
  if (event?.type !== EVENT_ID.SEQUENCE && event?.type !== EVENT_ID.MAPPING) return [0, 0];
  return walkMembers(state, value, {
    start: event.start,
    isMapping: event.type === EVENT_ID.MAPPING,
  });
}

function walkMembers(
  state: EventWalk,
  value: unknown,
  { start, isMapping }: { start: number; isMapping: boolean },
): readonly [number, number] {
  const members = new Map<string, readonly [number, number]>();
  let end = start;
  for (let index = 0; ; index += 1) {
    const event = state.next();
    if (event === undefined || event.type === EVENT_ID.POP) break;
    const key =
      isMapping && event.type === EVENT_ID.SCALAR
        ? getScalarValue(state.text, event)
        : String(index);
    const [keyStart] = isMapping ? walkValue(state, undefined, event) : [undefined];
    const inner: unknown = value instanceof Object ? Reflect.get(value, key) : undefined;
    const [from, to] = isMapping ? walkValue(state, inner) : walkValue(state, inner, event);
    end = Math.max(end, to);
    members.set(key, [keyStart ?? from, to]);
  }
  if (value instanceof Object && !state.spans.has(value))
    state.spans.set(value, { start, end, members });
  return [start, end];
}

function lineStarts(text: string): readonly number[] {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

/** The line of an offset, by binary search: files can have many thousands of values. */
function lineAtOffset(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}
