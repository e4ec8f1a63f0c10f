import { EVENT_ID, type Event, load, parseEvents, YAMLException } from 'js-yaml';

/** In characters. Real files repeat a few lines. */
const mostRepeated = 1_000_000;

/**
 * The value of a text with one YAML document. Throws a `YAMLException` with a position, also if an
 * alias stands for a value that contains it, or if aliases stand for more than a million
 * characters: what walks such a value would not end.
 */
export function readYaml(text: string): unknown {
  if (text.includes('&') && text.includes('*')) checkAliases(text);
  return load(text);
}

/** A value that is not closed yet, and how long it is with all that its aliases stand for. */
interface OpenValue {
  readonly anchor: string | undefined;
  length: number;
}

function checkAliases(text: string): void {
  const open: OpenValue[] = [];
  const lengths = new Map<string, number>();
  let repeated = 0;
  const add = (anchor: string | undefined, length: number) => {
    if (anchor !== undefined) lengths.set(anchor, length);
    const holder = open.at(-1);
    if (holder !== undefined) holder.length += length;
  };
  for (const event of parseEvents(text, {})) {
    if (event.type === EVENT_ID.POP) {
      const { anchor, length = 0 } = open.pop() ?? {};
      add(anchor, length);
    } else if (event.type === EVENT_ID.SCALAR) {
      add(anchorOf(text, event), event.valueEnd - event.valueStart + 1);
    } else if (event.type === EVENT_ID.ALIAS) {
      const name = text.slice(event.anchorStart, event.anchorEnd);
      if (open.some(({ anchor }) => anchor === name))
        YAMLException.throwAt(text, event.anchorStart, `*${name} stands for a value that holds it`);
      const length = lengths.get(name) ?? 0;
      repeated += length;
      add(undefined, length);
      if (repeated > mostRepeated)
        YAMLException.throwAt(
          text,
          event.anchorStart,
          'aliases repeat more than a million characters',
        );
    } else open.push({ anchor: anchorOf(text, event), length: 1 });
  }
}

function anchorOf(text: string, event: Event): string | undefined {
  return 'anchorStart' in event && event.anchorStart >= 0
    ? text.slice(event.anchorStart, event.anchorEnd)
    : undefined;
}
