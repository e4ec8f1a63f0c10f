import { isRecord } from '../../lib/json.ts';

/** How many values a schema may have once its references are followed. */
const mostValues = 5000;
const deepest = 60;

/**
 * A JSON Schema without references: each is replaced with what it refers to, and one that leads
 * back to itself with a schema that allows anything. So checking an input against the schema takes
 * time proportional to both; references that branch would take 2^n steps. Returns undefined if the
 * schema is too large or too deep.
 */
export function inlineSchema(root: object): object | undefined {
  let values = 0;
  let isTooLarge = false;
  const copy = (json: unknown, depth: number, followed: readonly string[]): unknown => {
    values += 1;
    isTooLarge ||= values > mostValues || depth > deepest;
    if (isTooLarge) return {};
    if (Array.isArray(json)) return json.map((entry) => copy(entry, depth + 1, followed));
    if (!isRecord(json)) return json;
    const { $ref: ref, ...rest } = json;
    if (typeof ref === 'string') {
      if (followed.includes(ref)) return {};
      const target = referredValue(root, ref);
      const merged = isRecord(target) ? { ...target, ...rest } : rest;
      return copy(merged, depth + 1, [...followed, ref]);
    }
    const entries = Object.entries(json).filter(([key]) => !definitionKeys.has(key));
    return Object.fromEntries(
      entries.map(([key, value]) => [key, copy(value, depth + 1, followed)]),
    );
  };
  const inlined = copy(root, 0, []);
  return isTooLarge || !isRecord(inlined) ? undefined : inlined;
}

const definitionKeys = new Set(['$defs', 'definitions', '$anchor', '$dynamicRef', '$recursiveRef']);

/** What a reference such as `#/$defs/day` refers to. A reference to elsewhere is not followed. */
function referredValue(root: object, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  const keys = ref.slice(1).split('/').slice(1);
  return keys.reduce<unknown>((value, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return value instanceof Object && Object.hasOwn(value, name)
      ? (value as Readonly<Record<string, unknown>>)[name]
      : undefined;
  }, root);
}
