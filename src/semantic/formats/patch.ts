import { canonicalJson, isRecord } from '../../lib/json.ts';

/** An object of a model file. A key whose value is undefined counts as absent. */
export type PlainObject = Readonly<Record<string, unknown>>;

/**
 * Turns one object into another; plain data. It records what it replaces, so that a later edit of
 * that part is noticed.
 */
export interface Patch {
  /** Keys that the base lacks, at any depth. */
  readonly add?: PlainObject | undefined;
  /** No `from`: the value was absent. No `to`: the value is removed. */
  readonly replace?:
    | readonly {
        readonly path: readonly string[];
        readonly from?: unknown;
        readonly to?: unknown;
      }[]
    | undefined;
}

/** The patch that turns `base` into `wanted`; undefined if they are equal. */
export function makePatch(base: PlainObject, wanted: PlainObject): Patch | undefined {
  const { add, replace } = collectDifferences(base, wanted, []);
  if (add === undefined && replace.length === 0) return undefined;
  return { ...(add !== undefined && { add }), ...(replace.length > 0 && { replace }) };
}

/**
 * The patched object. `stale` lists the paths at which the base was edited since the patch was
 * made: there the base wins.
 */
export function applyPatch(
  base: PlainObject,
  patch: Patch,
): { readonly value: PlainObject; readonly stale: readonly string[] } {
  const stale: string[] = [];
  let value = addMissing(base, patch.add ?? {}, (path) => stale.push(path));
  for (const { path, from, to } of patch.replace ?? []) {
    if (isEqual(valueAt(value, path), from)) value = setValueAt(value, path, to);
    else stale.push(path.join('.'));
  }
  return { value, stale };
}

/** Deep equality, whatever the order of keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  return a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);
}

/** A copy without the given keys, and without keys whose value is undefined. */
export function omitKeys(object: object, ...keys: readonly string[]): PlainObject {
  return Object.fromEntries(
    Object.entries(object).filter(([key, value]) => value !== undefined && !keys.includes(key)),
  );
}

interface Differences {
  readonly add: PlainObject | undefined;
  readonly replace: NonNullable<Patch['replace']>;
}

function collectDifferences(
  base: PlainObject,
  wanted: PlainObject,
  path: readonly string[],
): Differences {
  const add: [string, unknown][] = [];
  const replace: NonNullable<Patch['replace']>[number][] = [];
  for (const key of new Set([...Object.keys(base), ...Object.keys(wanted)])) {
    const [from, to] = [ownValue(base, key), ownValue(wanted, key)];
    const keyPath = [...path, key];
    if (isEqual(from, to)) continue;
    if (isRecord(from) && isRecord(to)) {
      const inner = collectDifferences(from, to, keyPath);
      if (inner.add !== undefined) add.push([key, inner.add]);
      replace.push(...inner.replace);
    } else if (from === undefined) add.push([key, to]);
    else replace.push({ path: keyPath, from, ...(to !== undefined && { to }) });
  }
  return { add: add.length === 0 ? undefined : Object.fromEntries(add), replace };
}

function addMissing(
  base: PlainObject,
  add: PlainObject,
  onStale: (path: string) => void,
): PlainObject {
  const added = Object.entries(add).flatMap(([key, value]): [string, unknown][] => {
    const present = ownValue(base, key);
    if (present === undefined) return [[key, value]];
    if (isRecord(present) && isRecord(value))
      return [[key, addMissing(present, value, (path) => onStale(`${key}.${path}`))]];
    if (!isEqual(present, value)) onStale(key);
    return [];
  });
  return { ...base, ...Object.fromEntries(added) };
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isRecord(inner) ? ownValue(inner, key) : undefined),
    value,
  );
}

function setValueAt(
  object: PlainObject,
  [key = '', ...rest]: readonly string[],
  to: unknown,
): PlainObject {
  const inner = ownValue(object, key);
  const next = rest.length === 0 ? to : setValueAt(isRecord(inner) ? inner : {}, rest, to);
  return next === undefined
    ? omitKeys(object, key)
    : { ...object, ...Object.fromEntries([[key, next]]) };
}

/** Reads `__proto__` and the like as ordinary keys. */
function ownValue(object: PlainObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
