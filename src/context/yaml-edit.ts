import { isAlias, isCollection, isMap, isPair, isScalar, isSeq, Lexer, parseDocument } from 'yaml';
import type { Json } from '../lib/json.ts';
import { yamlBlock, yamlPair, yamlValue } from './yaml-text.ts';

/** One change: of a key at the top of the file, of a key in one entry of a list at the top, or of the list itself. */
export type YamlEdit =
  | { readonly kind: 'set' | 'add'; readonly list?: string; readonly index?: number; readonly key: string; readonly value: Json } // prettier-ignore
  | { readonly kind: 'delete'; readonly list?: string; readonly index?: number; readonly key: string }
  | { readonly kind: 'append'; readonly list: string; readonly entries: readonly Json[] }
  /** Never the last entry that a list has: then the list's key is deleted. */
  | { readonly kind: 'remove'; readonly list: string; readonly index: number };

export interface EditedYaml {
  readonly text: string;
  /** Not done: would have taken a comment with it, or the file has a shape that cannot be edited there. */
  readonly refused: readonly YamlEdit[];
}

interface Source {
  readonly text: string;
  readonly newline: string;
  readonly comments: readonly number[];
  readonly keyOrder: readonly string[];
}

/** A pair of a mapping or an item of a list, from its first character (the dash of a block item) to its last. */
interface Member {
  readonly start: number;
  readonly end: number;
  readonly key?: string;
  /** Where the value begins, and whether it is written in block style. */
  readonly value: number;
  readonly block: boolean;
}

interface Container {
  readonly flow: boolean;
  readonly members: readonly Member[];
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Edits YAML by replacing the smallest stretches of its text: everything else keeps its bytes. The caller has parsed the
 * text and checks the result by parsing it again. `keyOrder`: a new key goes after the last key that is before it there.
 */
export function editYaml(text: string, edits: readonly YamlEdit[], keyOrder: readonly string[]): EditedYaml {
  const refused: YamlEdit[] = [];
  let current = text;
  for (const batch of batches(edits)) {
    const root = parseDocument(current).contents;
    const newline = current.includes('\r\n') ? '\r\n' : '\n';
    const source = { text: current, newline, comments: commentStarts(current), keyOrder };
    const splices = batch.flatMap((edit) => {
      const container = containerAt(source, root, edit);
      const splice = container && spliceOf(source, container, edit);
      if (splice === undefined) refused.push(edit);
      return splice ?? [];
    });
    current = applied(current, splices);
  }
  return { text: current, refused };
}

/** Edits of one batch touch different entries. Positions in lists stay true: removals come last and from the end. */
function batches(edits: readonly YamlEdit[]): YamlEdit[][] {
  const inside = Map.groupBy(edits.filter(isInEntry), ({ list, index }) => `${list} ${index}`);
  const rounds = Math.max(0, ...[...inside.values()].map((group) => group.length));
  const parallel = [...Array(rounds).keys()].map((round) => [...inside.values()].flatMap((group) => group[round] ?? []));
  const removals = edits.filter((edit) => edit.kind === 'remove').sort((a, b) => b.index - a.index);
  const others = edits.filter((edit) => edit.kind !== 'remove' && !isInEntry(edit));
  return [...parallel, ...[...others, ...removals].map((edit) => [edit])];
}

function isInEntry(edit: YamlEdit): edit is Extract<YamlEdit, { key: string }> {
  return edit.kind !== 'remove' && edit.kind !== 'append' && edit.list !== undefined;
}

/** The mapping or list that the edit changes; undefined where the file has another shape there. */
function containerAt({ text }: Source, root: unknown, edit: YamlEdit): Container | undefined {
  if (!isMap(root) || edit.list === undefined) return containerOf(text, root);
  const list = root.get(edit.list, true);
  return containerOf(text, isInEntry(edit) && isSeq(list) ? list.items[edit.index ?? -1] : list);
}

function containerOf(text: string, node: unknown): Container | undefined {
  if (!isMap(node) && !isSeq(node)) return undefined;
  const flow = node.flow === true;
  const members = node.items.map((item): Member | undefined => {
    const value = isPair(item) ? item.value : item;
    const start = isPair(item) ? startOf(item.key) : startOf(item);
    const end = endOf(text, item);
    if (start === undefined || end === undefined) return undefined;
    const block = isCollection(value) && value.flow !== true;
    if (!isPair(item)) return { start: flow ? start : text.lastIndexOf('-', start - 1), end, value: start, block };
    const key = isScalar(item.key) ? String(item.key.value) : undefined;
    return key === undefined ? undefined : { start, end, key, value: startOf(value) ?? end, block };
  });
  const known = members.filter((member) => member !== undefined);
  return known.length === members.length && known.length > 0 ? { flow, members: known } : undefined;
}

function spliceOf(source: Source, container: Container, edit: YamlEdit): Splice | undefined {
  const { flow, members } = container;
  if (edit.kind === 'set') return replacement(source, container, edit);
  if (edit.kind === 'add') {
    return insertion(source, container, { after: predecessor(source, members, edit.key), text: pairText(edit, flow) });
  }
  if (edit.kind === 'append') {
    const items = edit.entries.map((entry) => (flow ? '' : '- ') + yamlValue(entry));
    return insertion(source, container, { after: members.at(-1), text: items.join(flow ? ', ' : '\n') });
  }
  const at = edit.kind === 'remove' ? edit.index : members.findIndex(({ key }) => key === edit.key);
  return flow ? flowRemoval(source, members, at) : blockRemoval(source, members, at);
}

function pairText({ key, value }: { key: string; value: Json }, flow: boolean): string {
  return flow ? yamlPair(key, value) : yamlBlock(key, value);
}

/** The last member in ktx's order that comes before the key; keys that ktx does not know have no place in it. */
function predecessor({ keyOrder }: Source, members: readonly Member[], key: string): Member | undefined {
  const rank = (one: string | undefined) => keyOrder.indexOf(one ?? '');
  const before = members.filter((member) => rank(member.key) >= 0 && rank(member.key) < rank(key));
  return before.sort((a, b) => rank(b.key) - rank(a.key))[0];
}

function replacement(source: Source, { flow, members }: Container, edit: { key: string; value: Json }): Splice | undefined {
  const member = members.find(({ key }) => key === edit.key);
  if (!member) return undefined;
  const pair = indented(source, pairText(edit, flow), member.start);
  const inline = !member.block && member.value < member.end && !pair.includes('\n');
  const start = inline ? member.value : source.text.indexOf(':', member.start + edit.key.length) + 1;
  const text = pair.slice(pairText({ key: edit.key, value: 0 }, true).length - (inline ? 1 : 2));
  return hasComment(source, start, member.end) ? undefined : { start, end: member.end, text };
}

/** Puts the text behind a member, or else before the first. */
function insertion(source: Source, { flow, members }: Container, added: { after: Member | undefined; text: string }): Splice | undefined {
  const [first] = members;
  if (!first) return undefined;
  const { after } = added;
  const place = after ? (flow ? after.end : lineEnd(source.text, after.end)) : first.start;
  const gap = flow ? ', ' : indented(source, '\n', first.start);
  const text = indented(source, added.text, first.start);
  return { start: place, end: place, text: after ? gap + text : text + gap };
}

/** Several lines as they stand at the column of a position. */
function indented({ text, newline }: Source, lines: string, position: number): string {
  return lines.replaceAll('\n', newline + indentation(text, position));
}

function flowRemoval(source: Source, members: readonly Member[], at: number): Splice | undefined {
  const [before, member, after] = [members[at - 1], members[at], members[at + 1]];
  if (!member) return undefined;
  const start = before ? before.end : member.start;
  const end = before ? member.end : after?.start;
  return end === undefined || hasComment(source, start, end) ? undefined : { start, end, text: '' };
}

/** Takes whole lines; a comment behind the member stays on a line of its own. */
function blockRemoval(source: Source, members: readonly Member[], at: number): Splice | undefined {
  const [member, after] = [members[at], members[at + 1]];
  if (!member || members.length === 1 || hasComment(source, member.start, member.end)) return undefined;
  const { text, newline } = source;
  const line = text.lastIndexOf('\n', member.start - 1) + 1;
  if (text.slice(line, member.start).trim() !== '') {
    if (!after || hasComment(source, member.start, after.start)) return undefined;
    return { start: member.start, end: after.start, text: '' };
  }
  const end = lineEnd(text, member.end);
  const rest = text.slice(member.end, end).trim();
  const kept = rest === '' ? '' : indentation(text, member.start) + rest;
  if (line === 0) return { start: 0, end: Math.min(end + newline.length, text.length), text: kept === '' ? '' : kept + newline };
  const start = line - (text[line - 2] === '\r' ? 2 : 1);
  return { start, end, text: kept === '' ? '' : newline + kept };
}

function applied(text: string, splices: readonly Splice[]): string {
  let [result, position] = ['', 0];
  for (const splice of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(position, splice.start) + splice.text;
    position = Math.max(position, splice.end);
  }
  return result + text.slice(position);
}

function startOf(node: unknown): number | undefined {
  return isScalar(node) || isCollection(node) || isAlias(node) ? node.range?.[0] : undefined;
}

/** Behind the last character that belongs to the node, without the comments and blank lines after it. */
function endOf(text: string, node: unknown): number | undefined {
  if (isPair(node)) return endOf(text, node.value) ?? endOf(text, node.key);
  if (isCollection(node) && node.flow !== true) return endOf(text, node.items.at(-1));
  if (!isScalar(node) && !isCollection(node) && !isAlias(node)) return undefined;
  const range = node.range;
  return range ? range[0] + text.slice(range[0], range[1]).trimEnd().length : undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  if (end < 0) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

function indentation(text: string, position: number): string {
  return ' '.repeat(position - text.lastIndexOf('\n', position - 1) - 1);
}

function hasComment({ comments }: Source, start: number, end: number): boolean {
  return comments.some((at) => at >= start && at < end);
}

/** The comments of a YAML text, in order. */
export function commentsOf(text: string): string[] {
  return commentStarts(text).map((start) => text.slice(start, lineEnd(text, start)).trimEnd());
}

function commentStarts(text: string): number[] {
  const starts: number[] = [];
  let [position, previous] = [0, ''];
  for (const token of new Lexer().lex(text)) {
    const isMark = token === '\u0002' || token === '\u0018' || token === '\u001f';
    if (!isMark && token.startsWith('#') && previous !== '\u001f') starts.push(position);
    if (!isMark) position += token.length;
    previous = token;
  }
  return starts;
}
