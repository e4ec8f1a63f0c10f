import { canonicalJson } from '../../lib/json.ts';

/** An object of a model file; absent and undefined are the same. */
export type Entry = Readonly<Record<string, unknown>>;

/** What makes one object of another; plain data. It knows what it replaces, so that a later edit of that is noticed. */
export interface Patch {
  /** Keys that are not there, at any depth. */
  readonly add?: Entry | undefined;
  /** Without `from` what was absent, without `to` what is to go. */
  readonly replace?:
    | readonly {
        readonly path: readonly string[];
        readonly from?: unknown;
        readonly to?: unknown;
      }[]
    | undefined;
}

/** From `base` to `wanted`; undefined where they are equal. */
export function differences(base: Entry, wanted: Entry): Patch | undefined {
  const { add, replace } = differ(base, wanted, []);
  if (add === undefined && replace.length === 0) return undefined;
  return { ...(add !== undefined && { add }), ...(replace.length > 0 && { replace }) };
}

/** The patched object, and the paths at which the base is no longer what the patch was made for: there, the base stays. */
export function patched(
  base: Entry,
  patch: Patch,
): { readonly value: Entry; readonly stale: readonly string[] } {
  const stale: string[] = [];
  let value = added(base, patch.add ?? {}, (path) => stale.push(path));
  for (const { path, from, to } of patch.replace ?? []) {
    if (same(at(value, path), from)) value = changed(value, path, to);
    else stale.push(path.join('.'));
  }
  return { value, stale };
}

export function same(a: unknown, b: unknown): boolean {
  return a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);
}

export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without the keys that are undefined, and the given ones. */
export function without(entry: object, ...keys: readonly string[]): Entry {
  return Object.fromEntries(
    Object.entries(entry).filter(([key, value]) => value !== undefined && !keys.includes(key)),
  );
}

interface Difference {
  readonly add: Entry | undefined;
  readonly replace: NonNullable<Patch['replace']>;
}

function differ(base: Entry, wanted: Entry, path: readonly string[]): Difference {
  const add: [string, unknown][] = [];
  const replace: NonNullable<Patch['replace']>[number][] = [];
  for (const key of new Set([...Object.keys(base), ...Object.keys(wanted)])) {
    const [from, to, here] = [own(base, key), own(wanted, key), [...path, key]];
    if (same(from, to)) continue;
    if (isEntry(from) && isEntry(to)) {
      const inner = differ(from, to, here);
      if (inner.add !== undefined) add.push([key, inner.add]);
      replace.push(...inner.replace);
    } else if (from === undefined) add.push([key, to]);
    else replace.push({ path: here, from, ...(to !== undefined && { to }) });
  }
  return { add: add.length === 0 ? undefined : Object.fromEntries(add), replace };
}

function added(base: Entry, add: Entry, stale: (path: string) => void): Entry {
  const entries = Object.entries(add).flatMap(([key, value]): [string, unknown][] => {
    const present = own(base, key);
    if (present === undefined) return [[key, value]];
    if (isEntry(present) && isEntry(value))
      return [[key, added(present, value, (path) => stale(`${key}.${path}`))]];
    if (!same(present, value)) stale(key);
    return [];
  });
  return { ...base, ...Object.fromEntries(entries) };
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isEntry(inner) ? own(inner, key) : undefined),
    value,
  );
}

function changed(entry: Entry, [key = '', ...rest]: readonly string[], to: unknown): Entry {
  const inner = own(entry, key);
  const next = rest.length === 0 ? to : changed(isEntry(inner) ? inner : {}, rest, to);
  return next === undefined
    ? without(entry, key)
    : { ...entry, ...Object.fromEntries([[key, next]]) };
}

/** `__proto__` and the like are keys as any other. */
function own(entry: Entry, key: string): unknown {
  return Object.hasOwn(entry, key) ? entry[key] : undefined;
}
