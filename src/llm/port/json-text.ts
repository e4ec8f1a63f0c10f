import { parseJson } from '../../lib/json.ts';

/**
 * Finds JSON in a model's answer: the whole text, a quoted text inside it, or the part from its
 * first to its last brace. Undefined if there is none.
 */
export function extractJson(text: string): unknown {
  const braces = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  for (const candidate of [text, braces]) {
    const value = parseJson(candidate);
    if (typeof value === 'string' && value !== text) return extractJson(value);
    if (value !== undefined) return value;
  }
  return undefined;
}
