import { parseJson } from '../../lib/json.ts';

/** The JSON that a text holds: the text itself, one more layer of quotes, or what stands from its first brace to its last. */
export function jsonIn(text: string): unknown {
  for (const candidate of [text, text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)]) {
    const value = parseJson(candidate);
    if (typeof value === 'string' && value !== text) return jsonIn(value);
    if (value !== undefined) return value;
  }
  return undefined;
}
