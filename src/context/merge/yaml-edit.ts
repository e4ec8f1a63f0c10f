import { isCollection, isMap, isNode, isPair, isScalar, isSeq, parseDocument, Parser } from 'yaml';
import type { Json } from '../../lib/json.ts';
import { yamlBlock, yamlKey, yamlPair, yamlValue } from './yaml-text.ts';

/** One change of the value at a path such as `['fields', 3, 'type']`. */
export interface YamlEdit {
  readonly at: readonly (string | number)[];
  /** Undefined removes the value; a position past the end of a list appends to it. */
  readonly value: Json | undefined;
}

/**
 * A pair of a mapping or an item of a list, with the offsets of its first character (the dash of a
 * block item) and of its end.
 */
interface YamlMember {
  readonly start: number;
  readonly end: number;
  readonly key: string | number;
  readonly isRemoved: boolean;
}

/** A mapping or a list, and the text that contains it. */
interface YamlContainer {
  readonly text: string;
  /** True for `{a: 1}` and `[1]`, false if each member has lines of its own. */
  readonly flow: boolean;
  readonly members: readonly YamlMember[];
}

type TextSplice = readonly [start: number, end: number, text: string];

/**
 * Edits YAML by replacing the smallest possible parts of its text; everything else keeps its bytes.
 * The caller has parsed the text, and checks the result by parsing it again. A new key goes after
 * the last key that precedes it in `keyOrder`. No edit may lie within the value that another one
 * sets or removes. An edit is refused if it would remove a comment, or if the file has a shape that
 * cannot be edited.
 */
export function editYaml(text: string, edits: readonly YamlEdit[], keyOrder: readonly string[]) {
  if (edits.length === 0) return { text, refused: [] };
  const root = parseDocument(text);
  const comments = listCommentTokens([...new Parser().parse(text)]);
  const refused: YamlEdit[] = [];
  const splices: TextSplice[] = [];
  const hasComment = ([start, end]: TextSplice) =>
    comments.some(({ offset }) => offset >= start && offset < end);
  const deepestFirst = edits.toSorted((a, b) => b.at.length - a.at.length);
  const byContainer = Map.groupBy(deepestFirst, ({ at }) => JSON.stringify(at.slice(0, -1)));
  for (const group of byContainer.values()) {
    const containerPath = group[0]?.at.slice(0, -1) ?? [];
    const container = locateContainer(text, root.getIn(containerPath, true), group);
    for (const edit of group) {
      const splice = container && createSplice(container, edit, keyOrder);
      if (!splice || hasComment(splice)) refused.push(edit);
      else splices.push(splice);
    }
  }
  return { text: applySplices(text, splices), refused };
}

/** The mapping or list that contains what the edits change; undefined if the node is neither. */
function locateContainer(
  text: string,
  node: unknown,
  edits: readonly YamlEdit[],
): YamlContainer | undefined {
  if (!isMap(node) && !isSeq(node)) return undefined;
  const flow = node.flow === true;
  const removed = new Set(
    edits.filter(({ value }) => value === undefined).map(({ at }) => at.at(-1)),
  );
  const members = node.items.flatMap((item: unknown, index): YamlMember[] => {
    const first = isPair(item) ? item.key : item;
    const start = isNode(first) ? first.range?.[0] : undefined;
    const end = nodeEnd(text, item);
    const key = isScalar(first) && isPair(item) ? String(first.value) : index;
    if (start === undefined || end === undefined) return [];
    const isDashed = !isPair(item) && !flow;
    const memberStart = isDashed ? text.lastIndexOf('-', start - 1) : start;
    return [{ start: memberStart, end, key, isRemoved: removed.has(key) }];
  });
  return members.length === node.items.length ? { text, flow, members } : undefined;
}

function createSplice(
  container: YamlContainer,
  { at, value }: YamlEdit,
  keyOrder: readonly string[],
): TextSplice | undefined {
  const { text, flow, members } = container;
  const key = at.at(-1) ?? '';
  const position = members.findIndex((member) => member.key === key);
  if (value === undefined) return removeMember(container, position);
  const [first, member] = [members[0], members[position]];
  if (!first) return undefined;
  const lineEnding = text.includes('\r\n') ? '\r\n' : '\n';
  const newline = lineEnding + ' '.repeat(columnAt(text, first.start));
  const memberText = renderMember(container, key, value).replaceAll('\n', newline);
  if (member) {
    const valueStart = text.indexOf(':', member.start + String(key).length) + 1;
    return [valueStart, member.end, memberText.slice(yamlKey(String(key)).length + 1)];
  }
  const separator = flow ? ', ' : newline;
  const previous =
    typeof key === 'number' ? members.at(-1) : findPredecessor(members, key, keyOrder);
  if (!previous) return [first.start, first.start, memberText + separator];
  const offset = flow ? previous.end : lineEnd(text, previous.end);
  return [offset, offset, separator + memberText];
}

function renderMember({ flow }: YamlContainer, key: string | number, value: Json): string {
  if (typeof key === 'number') return flow ? yamlValue(value) : `- ${yamlValue(value)}`;
  return flow ? yamlPair(key, value) : yamlBlock(key, value);
}

/**
 * The last member that precedes the key in `keyOrder`. Keys that are not listed there are ignored.
 */
function findPredecessor(
  members: readonly YamlMember[],
  key: string,
  keyOrder: readonly string[],
): YamlMember | undefined {
  const rank = (name: string | number) => keyOrder.indexOf(String(name));
  const before = members.filter(
    (member) => !member.isRemoved && rank(member.key) >= 0 && rank(member.key) < rank(key),
  );
  return before.sort((a, b) => rank(b.key) - rank(a.key))[0];
}

/**
 * In flow style the member with one of its commas; in block style whole lines, except that a
 * comment after the member stays.
 */
function removeMember(
  { text, flow, members }: YamlContainer,
  position: number,
): TextSplice | undefined {
  const [before, member, after] = [members[position - 1], members[position], members[position + 1]];
  if (!member) return undefined;
  const staysBefore = members.slice(0, position).some(({ isRemoved }) => !isRemoved);
  if (flow && before && staysBefore) return [before.end, member.end, ''];
  const line = text.lastIndexOf('\n', member.start - 1) + 1;
  if (flow || text.slice(line, member.start).trim() !== '')
    return after && [member.start, after.start, ''];
  const end = lineEnd(text, member.end);
  const comment = text.slice(member.end, end).trimStart();
  if (comment !== '') return [member.start, end - comment.length, ''];
  return line === 0
    ? [member.start, text.indexOf('\n', end) + 1, '']
    : [lineEnd(text, line - 1), end, ''];
}

/** Of splices that start at the same offset, insertions come first, in their order. */
function applySplices(text: string, splices: readonly TextSplice[]): string {
  let [result, position] = ['', 0];
  for (const [start, end, added] of splices.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    result += text.slice(position, start) + added;
    position = Math.max(position, end);
  }
  return result + text.slice(position);
}

/** The offset after the node's last character, without the comments and blank lines that follow. */
function nodeEnd(text: string, node: unknown): number | undefined {
  if (isPair(node)) return nodeEnd(text, node.value) ?? nodeEnd(text, node.key);
  if (isCollection(node) && node.flow !== true) return nodeEnd(text, node.items.at(-1));
  const range = isNode(node) ? node.range : undefined;
  return range ? range[0] + text.slice(range[0], range[1]).trimEnd().length : undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  if (end < 0) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

/** Counted from 0; a byte order mark does not count. */
function columnAt(text: string, position: number): number {
  return (
    position -
    1 -
    Math.max(text.lastIndexOf('\n', position - 1), text.lastIndexOf('\uFEFF', position - 1))
  );
}

/** The comments of a YAML text. */
export function listComments(text: string): string[] {
  return listCommentTokens([...new Parser().parse(text)]).map(({ source }) => source.trimEnd());
}

/** All comments in the parser's tokens, which contain each other in lists and properties. */
function listCommentTokens(token: unknown): { readonly offset: number; readonly source: string }[] {
  if (typeof token !== 'object' || token === null) return [];
  if ('type' in token && token.type === 'comment' && 'offset' in token && 'source' in token) {
    return [{ offset: Number(token.offset), source: String(token.source) }];
  }
  return Object.values(token).flatMap(listCommentTokens);
}
