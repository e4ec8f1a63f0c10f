export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json };

/**
 * JSON with sorted keys at every level, so that equal values give equal text. Undefined values are
 * left out.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  // An ingest of a thousand tables calls this a million times, so it builds no pairs and no
  // closures.
  const mapping = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const key of Object.keys(mapping).sort()) {
    const inner = mapping[key];
    if (inner !== undefined)
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(inner)}`;
  }
  return `{${text}}`;
}

/** Recursive code handles this depth. */
const deepestJson = 1000;

/** The value of a JSON text; undefined if the text is not JSON, or nested more than 1,000 deep. */
export function parseJson(text: string): unknown {
  if (text.length > deepestJson && isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const [quote, backslash, openBracket, openBrace, closeBracket, closeBrace] = [
  0x22, 0x5c, 0x5b, 0x7b, 0x5d, 0x7d,
];

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length && depth <= deepestJson; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString) at += code === backslash ? 1 : 0;
    else if (code === openBracket || code === openBrace) depth += 1;
    else if (code === closeBracket || code === closeBrace) depth -= 1;
  }
  return depth > deepestJson;
}

/** True for objects that are not lists. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
