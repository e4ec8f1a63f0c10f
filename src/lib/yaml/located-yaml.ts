import {
  constructFromEvents,
  CORE_SCHEMA,
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  mergeTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
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

/**
 * Parses YAML and records the location of every value, in one pass over the parser's events. Reads
 * brackets and quotes that continue on a line with too little indentation, as PyYAML does.
 */
export function readLocatedYaml(text: string): LocatedYaml | { readonly broken: BrokenYaml } {
  try {
    const { events, indented } = parseIndenting(text);
    const source = indented.text;
    const documents = constructFromEvents(events, {
      source,
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
      walkValue({ text: source, next, spans }, document);
      next();
    }
    const starts = lineStarts(text);
    const locationOf = (start: number, end: number) => {
      const [from, to] = [originalOffset(indented, start), originalOffset(indented, end)];
      return { line: lineAtOffset(starts, from), text: text.slice(from, to).trim() };
    };
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

/** A text with spaces put in front of some of its lines. */
interface IndentedText {
  readonly text: string;
  /** By offset in `text`. */
  readonly insertions: readonly Insertion[];
}

interface Insertion {
  readonly offset: number;
  readonly length: number;
}

/** In characters. Bounds the time that a file with many badly indented lines can take. */
const mostParsed = 20_000_000;

/**
 * The events of a text. YAML wants every line of a bracket or of quotes deeper than the key that
 * it belongs to; PyYAML, and with it dbt, does not, and the spaces at the start of such a line mean
 * nothing. So each line that the parser refuses for that is indented, and the text parsed again. If
 * that does not help, the first error stands: it is nearest to the bracket that is not closed.
 */
function parseIndenting(text: string): { events: Event[]; indented: IndentedText } {
  let indented: IndentedText = { text, insertions: [] };
  let firstError: unknown;
  for (let parsed = 0; ; parsed += text.length) {
    try {
      return { events: parseEvents(indented.text, {}), indented };
    } catch (error) {
      firstError ??= error;
      const offset = parsed < mostParsed ? shallowLine(error, indented.text) : undefined;
      if (offset === undefined) throw firstError;
      indented = indentLine(indented, offset);
    }
  }
}

/** Where the line starts that is not deep enough; undefined for any other error. */
function shallowLine(error: unknown, text: string): number | undefined {
  if (!(error instanceof YAMLException) || error.reason !== 'deficient indentation')
    return undefined;
  const { position = 0 } = error.mark ?? {};
  const start = text.lastIndexOf('\n', position - 1) + 1;
  return start === 0 ? undefined : start;
}

/** Makes the line at `offset` deeper than what the line before it opens. */
function indentLine({ text, insertions }: IndentedText, offset: number): IndentedText {
  const before = text.slice(0, offset).trimEnd();
  const [opening = ''] = /^[ \-?]*/.exec(before.slice(before.lastIndexOf('\n') + 1)) ?? [];
  const length = opening.length + 1;
  const moved = insertions.map((each) =>
    each.offset < offset ? each : { ...each, offset: each.offset + length },
  );
  return {
    text: text.slice(0, offset) + ' '.repeat(length) + text.slice(offset),
    insertions: [...moved, { offset, length }],
  };
}

/** The offset in the text before its lines were indented. */
function originalOffset({ insertions }: IndentedText, offset: number): number {
  return insertions.reduce(
    (original, each) => original - Math.max(0, Math.min(each.length, offset - each.offset)),
    offset,
  );
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
  if (event?.type === EVENT_ID.SCALAR) {
    const quotes = isQuoted(event) ? 1 : 0;
    return [event.valueStart - quotes, event.valueEnd + quotes];
  }
  if (event?.type === EVENT_ID.ALIAS) return [event.anchorStart, event.anchorEnd];
  if (event?.type !== EVENT_ID.SEQUENCE && event?.type !== EVENT_ID.MAPPING) return [0, 0];
  return walkMembers(state, value, {
    start: event.start,
    isMapping: event.type === EVENT_ID.MAPPING,
    isFlow: event.style === COLLECTION_STYLE.FLOW,
  });
}

function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}

function walkMembers(
  state: EventWalk,
  value: unknown,
  { start, isMapping, isFlow }: { start: number; isMapping: boolean; isFlow: boolean },
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
    const [keyStart, keyEnd = start] = isMapping ? walkValue(state, undefined, event) : [];
    const inner: unknown = value instanceof Object ? Reflect.get(value, key) : undefined;
    const [from, valueEnd] = isMapping ? walkValue(state, inner) : walkValue(state, inner, event);
    // An empty value has no place.
    const to = Math.max(keyEnd, valueEnd);
    end = Math.max(end, to);
    members.set(key, [keyStart ?? Math.max(start, from), to]);
  }
  if (isFlow) end = bracketEnd(state.text, end);
  if (value instanceof Object && !state.spans.has(value))
    state.spans.set(value, { start, end, members });
  return [start, end];
}

/** Behind the bracket that closes what ends here; an empty one begins here. */
function bracketEnd(text: string, end: number): number {
  closingBracket.lastIndex = end;
  return end + (closingBracket.exec(text)?.[0].length ?? 0);
}

const closingBracket = /[[{]?(?:[\s,]|#[^\n]*)*[\]}]/y;

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
