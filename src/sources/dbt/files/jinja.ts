/** A value that is written out; anything that would have to be computed is undefined instead. */
export type JinjaValue = string | number | boolean | null | readonly JinjaValue[];

/** A call such as `ref('orders')` or `config(alias='x')`. */
export interface JinjaCall {
  readonly name: string;
  readonly positional: readonly JinjaValue[];
  readonly named: ReadonlyMap<string, JinjaValue>;
}

/** A comment, expression or statement of a template: `{# … #}`, `{{ … }}`, `{% … %}`. */
export interface JinjaTag {
  readonly kind: 'comment' | 'expression' | 'statement';
  /** What is inside, without the marks. */
  readonly inside: string;
  readonly start: number;
  /** Behind the closing mark. */
  readonly end: number;
}

export interface RenderedTemplate {
  readonly text: string;
  /**
   * Expressions and statements that code cannot resolve, as they are written; they stay in the
   * text.
   */
  readonly unresolved: readonly string[];
}

/** Evaluates a call; undefined if its value is not known. */
export type EvaluateCall = (call: JinjaCall) => JinjaValue | undefined;

/**
 * Replaces literals and known calls by their values. Comments are removed; statements stay as they
 * are.
 */
export function renderTemplate(template: string, evaluateCall: EvaluateCall): RenderedTemplate {
  const unresolved: string[] = [];
  const parts: string[] = [];
  let read = 0;
  for (const tag of jinjaTags(template)) {
    parts.push(template.slice(read, tag.start));
    read = tag.end;
    if (tag.kind === 'comment') continue;
    const value =
      tag.kind === 'expression' ? evaluateExpression(tag.inside, evaluateCall) : undefined;
    if (value === undefined) unresolved.push(tag.inside);
    parts.push(value === undefined ? template.slice(tag.start, tag.end) : String(value));
  }
  parts.push(template.slice(read));
  return { text: parts.join(''), unresolved };
}

const tagKinds = new Map([
  ['#', { kind: 'comment', close: '#}' }],
  ['{', { kind: 'expression', close: '}}' }],
  ['%', { kind: 'statement', close: '%}' }],
] as const);
type TagMark = Parameters<typeof tagKinds.get>[0];

/**
 * The tags of a template in their order. Our own tokenizer, because the libraries for Jinja run
 * whole templates and refuse the tags that dbt adds. One pass: a closing mark that was searched for
 * in vain is not searched for again.
 */
export function jinjaTags(template: string): JinjaTag[] {
  const tags: JinjaTag[] = [];
  const unclosed = new Set<string>();
  for (let start = template.indexOf('{'); start >= 0;) {
    const found = tagKinds.get(template.charAt(start + 1) as TagMark);
    const closing =
      found === undefined || unclosed.has(found.close)
        ? -1
        : template.indexOf(found.close, start + 2);
    if (found !== undefined && closing < 0) unclosed.add(found.close);
    const end = closing < 0 ? start + 1 : closing + 2;
    if (found !== undefined && closing >= 0) {
      const inside = trimDashes(template.slice(start + 2, closing));
      tags.push({ kind: found.kind, inside, start, end });
    }
    start = template.indexOf('{', end);
  }
  return tags;
}

/** Without the dashes that control white space, as in `{{- x -}}`. */
function trimDashes(text: string): string {
  const start = text.startsWith('-') ? 1 : 0;
  const end = text.endsWith('-') ? text.length - 1 : text.length;
  return text.slice(start, Math.max(start, end)).trim();
}

/** Texts that are joined by `~`, each with its filters. */
function evaluateExpression(
  expression: string,
  evaluateCall: EvaluateCall,
): JinjaValue | undefined {
  const terms = splitOutside(expression, '~')?.map((term) => evaluateTerm(term, evaluateCall));
  if (terms === undefined || terms.includes(undefined)) return undefined;
  return terms.length === 1 ? terms[0] : terms.map(String).join('');
}

/** A literal, a call, or a name such as `target.schema`, with filters behind it. */
function evaluateTerm(term: string, evaluateCall: EvaluateCall): JinjaValue | undefined {
  const [operand = '', ...names] = splitOutside(term, '|') ?? [];
  const applied = names.map((name) => filters.get(name));
  const call = parseJinjaCall(operand);
  const found = call === undefined ? parseLiteral(operand) : evaluateCall(call);
  const value = found ?? (call === undefined ? evaluateName(operand, evaluateCall) : undefined);
  if (value === undefined || applied.includes(undefined)) return undefined;
  return applied.reduce((text, filter) => filter?.(text) ?? text, value);
}

function evaluateName(name: string, evaluateCall: EvaluateCall): JinjaValue | undefined {
  if (!/^[A-Za-z_]\w*(\.\w+)*$/.test(name)) return undefined;
  return evaluateCall({ name, positional: [], named: new Map() });
}

/** The filters of Jinja and dbt that code can apply. */
const filters = new Map<string, (value: JinjaValue) => JinjaValue>([
  ['lower', (value) => String(value).toLowerCase()],
  ['upper', (value) => String(value).toUpperCase()],
  ['trim', (value) => String(value).trim()],
  ...['string', 'as_text', 'as_native', 'as_bool', 'as_number', 'int'].map(
    (name) => [name, (value: JinjaValue) => value] as const,
  ),
]);

/**
 * Undefined if the text is not a call with literal arguments. A named argument that is no literal
 * becomes a template.
 */
export function parseJinjaCall(text: string): JinjaCall | undefined {
  const [, name, inside] = /^([A-Za-z_][\w.]*)\s*\((.*)\)$/s.exec(text.trim()) ?? [];
  const written = inside === undefined ? undefined : splitArguments(inside);
  if (name === undefined || written === undefined) return undefined;
  const positional: JinjaValue[] = [];
  const named = new Map<string, JinjaValue>();
  for (const argument of written) {
    const [, key, value = argument] = /^(\w+)\s*=(?!=)\s*(.*)$/s.exec(argument) ?? [];
    const literal = parseLiteral(value);
    if (key !== undefined) named.set(key, literal ?? `{{ ${value} }}`);
    else if (literal !== undefined) positional.push(literal);
    else return undefined;
  }
  return { name, positional, named };
}

/** Lists that are nested deeper are not literals, so that hostile input costs no time. */
const deepestList = 20;

function parseLiteral(text: string, depth = 0): JinjaValue | undefined {
  const written = text.trim();
  const [, quote, inside] = /^(['"])(.*)\1$/s.exec(written) ?? [];
  if (quote !== undefined && inside !== undefined)
    return inside.includes(quote) || inside.includes('\\') ? undefined : inside;
  if (/^-?\d+(\.\d+)?$/.test(written)) return Number(written);
  if (/^(true|false)$/i.test(written)) return written.toLowerCase() === 'true';
  if (/^none$/i.test(written)) return null;
  if (depth >= deepestList || !/^[[(].*[\])]$/s.test(written)) return undefined;
  const items = splitArguments(written.slice(1, -1))?.map((item) => parseLiteral(item, depth + 1));
  return items?.every((item) => item !== undefined) ? items : undefined;
}

/** Split at the commas outside of quotes and brackets, without empty parts. */
function splitArguments(text: string): readonly string[] | undefined {
  return splitOutside(text, ',')?.filter((part) => part !== '');
}

/**
 * Split at a character where it stands outside of quotes and brackets; undefined if those do not
 * pair up.
 */
function splitOutside(text: string, separator: string): readonly string[] | undefined {
  const parts: string[] = [];
  let [depth, quote, start] = [0, '', 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"') quote = character;
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === separator && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
    if (depth < 0) return undefined;
  }
  if (depth !== 0 || quote !== '') return undefined;
  return [...parts, text.slice(start)].map((part) => part.trim());
}
