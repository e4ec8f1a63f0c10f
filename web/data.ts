import { useCallback, useEffect, useState } from 'preact/hooks';
import { type ApiError, type Envelope, type Parameters, queryOf, read } from './api.ts';

/** Answers that were read, until something is decided. */
const kept = new Map<string, Promise<Envelope<unknown>>>();
const listeners = new Set<() => void>();

/** Reads everything again: a decision may change every page. */
export function forgetData(): void {
  kept.clear();
  for (const listener of listeners) listener();
}

function readOnce<Data>(path: string, parameters: Parameters): Promise<Envelope<Data>> {
  const key = `${path}?${queryOf(parameters)}`;
  const known = kept.get(key) as Promise<Envelope<Data>> | undefined;
  if (known !== undefined) return known;
  const reading = read<Data>(path, parameters);
  kept.set(key, reading);
  void reading.then(({ ok }) => ok || kept.delete(key));
  return reading;
}

/** Asks for what the first page will need, before it is there. */
export function readAhead(paths: readonly string[]): void {
  for (const path of paths) void readOnce(path, {});
}

export interface Loaded<Data> {
  /** Undefined until it is there; the earlier one while it is read again. */
  readonly data: Data | undefined;
  readonly error: ApiError | undefined;
}

/** What a command prints, for a page. Without a path nothing is read. */
export function useData<Data>(path: string | undefined, parameters: Parameters = {}): Loaded<Data> {
  const [loaded, setLoaded] = useState<Loaded<Data> & { readonly key?: string }>(nothing);
  const [version, setVersion] = useState(0);
  const key = path === undefined ? '' : `${path}?${queryOf(parameters)}`;
  const again = useCallback(() => setVersion((now) => now + 1), []);
  useEffect(() => {
    listeners.add(again);
    return () => void listeners.delete(again);
  }, [again]);
  useEffect(() => {
    if (path === undefined) return undefined;
    let isCurrent = true;
    void readOnce<Data>(path, parameters).then(({ data, error }) => {
      if (isCurrent) setLoaded({ data, error, key });
    });
    return () => void (isCurrent = false);
  }, [key, version]);
  // What belongs to another address is not shown under this one.
  return loaded.key === key ? loaded : nothing;
}

const nothing = { data: undefined, error: undefined };
