/** What an expression can mean here; anything else is not guessed. */
export type Known = string | number | boolean | null | readonly Known[];

/** A call such as `ref('orders')` or `config(alias='x')`. */
export interface Call {
  readonly name: string;
  readonly positional: readonly Known[];
  readonly named: ReadonlyMap<string, Known>;
}

export interface Rendered {
  readonly text: string;
  /** Expressions and statements that code cannot resolve, as they are written; they stay in the text. */
  readonly unresolved: readonly string[];
}

/** What a call comes to; undefined where that is not known. */
export type Calls = (call: Call) => Known | undefined;

const part = /\{#.*?#\}|\{\{-?(.*?)-?\}\}|\{%-?(.*?)-?%\}/gs;

/** Resolves literals and known calls; comments go, control statements stay and are named. */
export function render(template: string, calls: Calls): Rendered {
  if (!template.includes('{')) return { text: template, unresolved: [] };
  const unresolved: string[] = [];
  const text = template.replaceAll(part, (whole, expression?: string, statement?: string) => {
    if (expression === undefined && statement === undefined) return '';
    const value = expression === undefined ? undefined : evaluate(expression.trim(), calls);
    if (value === undefined) unresolved.push((expression ?? statement ?? '').trim());
    return value === undefined ? whole : String(value);
  });
  return { text, unresolved };
}

/** The value of an expression of literals and known calls. */
function evaluate(expression: string, calls: Calls): Known | undefined {
  const call = readCall(expression);
  return call === undefined ? literal(expression) : calls(call);
}

/** Undefined where the text is no call with literal arguments. */
export function readCall(text: string): Call | undefined {
  const [, name, inside] = /^([A-Za-z_][\w.]*)\s*\((.*)\)$/s.exec(text.trim()) ?? [];
  const parts = inside === undefined ? undefined : topLevelParts(inside);
  if (name === undefined || parts === undefined) return undefined;
  const positional: Known[] = [];
  const named = new Map<string, Known>();
  for (const argument of parts) {
    const [, key, written = argument] = /^(\w+)\s*=(?!=)\s*(.*)$/s.exec(argument) ?? [];
    const value = literal(written);
    // What is not known stays a template where it has a name; without one, the call is not understood.
    if (value === undefined && key === undefined) return undefined;
    if (value !== undefined && key === undefined) positional.push(value);
    if (key !== undefined) named.set(key, value ?? `{{ ${written} }}`);
  }
  return { name, positional, named };
}

function literal(text: string): Known | undefined {
  const written = text.trim();
  const [, quote, inside] = /^(['"])(.*)\1$/s.exec(written) ?? [];
  if (quote !== undefined && inside !== undefined)
    return inside.includes(quote) || inside.includes('\\') ? undefined : inside;
  if (/^-?\d+(\.\d+)?$/.test(written)) return Number(written);
  if (/^(true|false)$/i.test(written)) return written.toLowerCase() === 'true';
  if (/^none$/i.test(written)) return null;
  if (!/^[[(].*[\])]$/s.test(written)) return undefined;
  const items = topLevelParts(written.slice(1, -1))?.map(literal);
  return items?.every((item) => item !== undefined) ? items : undefined;
}

/** Split at the commas that are in no quotes and no brackets; undefined where those do not pair up. */
function topLevelParts(text: string): readonly string[] | undefined {
  const parts: string[] = [];
  let [depth, quote, start] = [0, '', 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"') quote = character;
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
    if (depth < 0) return undefined;
  }
  if (depth !== 0 || quote !== '') return undefined;
  return [...parts, text.slice(start)].map((one) => one.trim()).filter((one) => one !== '');
}
