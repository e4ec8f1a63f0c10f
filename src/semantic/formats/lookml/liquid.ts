import type { Dialect } from '../../../sql/dialect.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';

/** A parameter of a view, with the value that it has unless a person chooses another. */
export interface LiquidParameter {
  readonly name: string;
  /** As SQL: a quoted text, a number or a bare name. */
  readonly defaultSql: string | undefined;
}

export interface LiquidContext {
  /** By name, with and without the view in front. */
  readonly parameters: ReadonlyMap<string, LiquidParameter>;
  /** Told where the text holds only as long as nobody chooses another value. */
  readonly addNote: (note: string) => void;
  readonly dialect: Pick<Dialect, 'name'>;
}

/**
 * The text without its Liquid: the branch that the default of a parameter chooses, or the one text
 * on which all branches agree. Throws UnreadableLookml where they differ.
 */
export function resolveLiquid(text: string, context: LiquidContext): string {
  if (!/\{[%{]/.test(text)) return text;
  const cursor = { parts: splitLiquid(text), index: 0, depth: 0 };
  const resolved = renderUntil(cursor, [], context);
  if (cursor.index < cursor.parts.length) throw unreadable(cursor.parts[cursor.index]);
  return resolved;
}

interface LiquidPart {
  readonly kind: 'text' | 'tag' | 'output';
  readonly text: string;
}

interface LiquidCursor {
  readonly parts: readonly LiquidPart[];
  index: number;
  depth: number;
}

function splitLiquid(text: string): readonly LiquidPart[] {
  const parts: LiquidPart[] = [];
  const opening = /\{[%{]/g;
  let position = 0;
  for (;;) {
    opening.lastIndex = position;
    const start = opening.exec(text)?.index ?? text.length;
    if (start > position) parts.push({ kind: 'text', text: text.slice(position, start) });
    if (start === text.length) return parts;
    const kind = text[start + 1] === '%' ? 'tag' : 'output';
    const end = text.indexOf(kind === 'tag' ? '%}' : '}}', start + 2);
    if (end < 0) throw new UnreadableLookml('its Liquid does not end');
    const inner = text
      .slice(start + 2, end)
      .replace(/^-/, '')
      .replace(/-$/, '');
    parts.push({ kind, text: inner.trim() });
    position = end + 2;
  }
}

/** Files that people write have at most three. */
const deepestBranch = 50;

/** Renders up to a tag of these names, which stays the current part. */
function renderUntil(
  cursor: LiquidCursor,
  ends: readonly string[],
  context: LiquidContext,
): string {
  cursor.depth += 1;
  if (cursor.depth > deepestBranch) throw new UnreadableLookml('its Liquid is nested too deep');
  let result = '';
  while (cursor.index < cursor.parts.length) {
    const part = cursor.parts[cursor.index];
    if (part === undefined) break;
    if (part.kind === 'output') throw unreadable(part);
    if (part.kind === 'tag' && ends.includes(tagName(part))) {
      cursor.depth -= 1;
      return result;
    }
    cursor.index += 1;
    result += part.kind === 'text' ? part.text : renderTag(part, cursor, context);
  }
  if (ends.length > 0) throw new UnreadableLookml(`its Liquid lacks ${ends.at(-1)}`);
  return result;
}

function tagName({ text }: LiquidPart): string {
  return text.split(/\s/, 1)[0] ?? '';
}

function renderTag(part: LiquidPart, cursor: LiquidCursor, context: LiquidContext): string {
  switch (tagName(part)) {
    case 'if':
      return renderIf(part, cursor, context);
    case 'parameter':
      return parameterValue(part.text.slice('parameter'.length).trim(), context);
    case 'condition': {
      renderUntil(cursor, ['endcondition'], context);
      cursor.index += 1;
      context.addNote(`the filter ${part.text.slice('condition'.length).trim()} is left open`);
      return '1 = 1';
    }
    default:
      throw unreadable(part);
  }
}

function renderIf(part: LiquidPart, cursor: LiquidCursor, context: LiquidContext): string {
  const branches: { readonly condition: string; readonly render: () => string }[] = [];
  let condition = part.text.slice('if'.length).trim();
  let hasElse = false;
  for (;;) {
    const branch = renderOrFault(cursor, context);
    branches.push({ condition, render: branch });
    const end = cursor.parts[cursor.index];
    cursor.index += 1;
    if (end === undefined) throw new UnreadableLookml('its Liquid lacks endif');
    if (tagName(end) === 'endif') break;
    hasElse = tagName(end) === 'else';
    condition = hasElse ? 'true' : end.text.slice('elsif'.length).trim();
  }
  if (!hasElse) branches.push({ condition: 'true', render: () => '' });
  return chooseBranch(branches, context);
}

/** What a branch says; its fault counts only if the branch does. */
function renderOrFault(cursor: LiquidCursor, context: LiquidContext): () => string {
  const notes: string[] = [];
  const start = cursor.index;
  const { depth } = cursor;
  try {
    const text = renderUntil(cursor, ['elsif', 'else', 'endif'], {
      ...context,
      addNote: (note) => void notes.push(note),
    });
    return () => {
      for (const note of notes) context.addNote(note);
      return text;
    };
  } catch (error) {
    if (!(error instanceof UnreadableLookml)) throw error;
    cursor.index = endOfBranch(cursor.parts, start);
    cursor.depth = depth;
    return () => {
      throw error;
    };
  }
}

function endOfBranch(parts: readonly LiquidPart[], start: number): number {
  let open = 0;
  for (let index = start; index < parts.length; index += 1) {
    const part = parts[index];
    const name = part?.kind === 'tag' ? tagName(part) : '';
    if (open === 0 && ['elsif', 'else', 'endif'].includes(name)) return index;
    if (name === 'if') open += 1;
    if (name === 'endif') open -= 1;
  }
  return parts.length;
}

function chooseBranch(
  branches: readonly { readonly condition: string; readonly render: () => string }[],
  context: LiquidContext,
): string {
  for (const [index, { condition, render }] of branches.entries()) {
    const isMet = evaluateCondition(condition, context);
    if (isMet === true) return render();
    if (isMet === undefined) {
      const texts = branches.slice(index).map((branch) => branch.render());
      const forms = new Set(texts.map((text) => text.replaceAll(/\s+/g, ' ').trim()));
      if (forms.size === 1) return texts[0] ?? '';
      throw new UnreadableLookml(`it depends on ${condition}`);
    }
  }
  return '';
}

const dialectComparison = /^_dialect\._name\s*(==|!=)\s*["'](\w+)["']$/;
const comparison = /^([\w.]+)\._parameter_value\s*(==|!=)\s*(?:'([^']*)'|"([^"]*)")$/;

/** Undefined if it depends on the question that somebody asks in Looker. */
function evaluateCondition(condition: string, context: LiquidContext): boolean | undefined {
  if (condition === 'true' || condition === 'false') return condition === 'true';
  const [, equality, dialectName] = dialectComparison.exec(condition) ?? [];
  // Looker's names are longer: `bigquery_standard_sql`.
  if (dialectName !== undefined)
    return dialectName.startsWith(context.dialect.name) === (equality === '==');
  const match = comparison.exec(condition);
  if (match === null) return undefined;
  const [, name = '', operator, single, double] = match;
  const value = context.parameters.get(name)?.defaultSql;
  if (value === undefined) return undefined;
  noteDefault(name, value, context);
  return (value === (single ?? double)) === (operator === '==');
}

function parameterValue(name: string, context: LiquidContext): string {
  const value = context.parameters.get(name)?.defaultSql;
  if (value === undefined)
    throw new UnreadableLookml(`it depends on the parameter ${name}, which has no default`);
  noteDefault(name, value, context);
  return value;
}

function noteDefault(name: string, value: string, { addNote }: LiquidContext): void {
  addNote(`the parameter ${name} has its default, ${value}`);
}

function unreadable(part: LiquidPart | undefined): UnreadableLookml {
  return new UnreadableLookml(`it is written in Liquid: ${part?.text ?? ''}`);
}
