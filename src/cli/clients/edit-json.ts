import { createScanner, findNodeAtLocation, parseTree, type Node } from 'jsonc-parser';
import type { ClientEntry } from './client-list.ts';

/** Kinds of `jsonc-parser`, whose enumeration exists for its compiler only. */
const commaToken = 5;
const trivia = new Set([12, 13, 14, 15]);

/**
 * JSON with comments in which one value is set, replaced or removed; every other byte stays. A new
 * one goes first into its object, where it cannot come between a value and the comment after it.
 */
export function editJson(
  text: string,
  path: readonly string[],
  entry: ClientEntry | undefined,
): string {
  const source = text.trim() === '' ? '{\n}\n' : text;
  const root = parseTree(source, [], { allowTrailingComma: true });
  const value = root && findNodeAtLocation(root, [...path]);
  if (entry === undefined) return value?.parent ? removed(source, value.parent) : source;
  if (value) {
    const shown = written(source, entry, indentAt(source, value.parent?.offset ?? 0));
    return splice(source, [value.offset, value.offset + value.length], shown);
  }
  return root === undefined ? source : inserted(source, root, [path, entry]);
}

/** Puts a new value into the innermost object that is there already. */
function inserted(
  text: string,
  root: Node,
  [path, entry]: readonly [readonly string[], ClientEntry],
): string {
  const [key = '', ...rest] = path;
  const next = findNodeAtLocation(root, [key]);
  if (next?.type === 'object') return inserted(text, next, [rest, entry]);
  const value = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), entry);
  return withMember(text, root, [key, value]);
}

function withMember(text: string, parent: Node, [key, value]: readonly [string, unknown]): string {
  const end = lineEnd(text);
  const outer = indentAt(text, parent.offset);
  const first = parent.children?.[0];
  const isOneLine = first !== undefined && !text.slice(parent.offset, first.offset).includes('\n');
  const member = `${JSON.stringify(key)}: `;
  if (isOneLine) {
    return splice(text, [first.offset, first.offset], `${member}${JSON.stringify(value)}, `);
  }
  const indent = first === undefined ? outer + indentUnit(text) : indentAt(text, first.offset);
  const shown = `${end}${indent}${member}${written(text, value, indent)}`;
  const at = afterComment(text, parent.offset + 1);
  if (first !== undefined) return splice(text, [at, at], `${shown},`);
  const rest = text.slice(at).startsWith('}') ? `${end}${outer}` : '';
  return splice(text, [at, at], shown + rest);
}

/** Behind a comment that stands in the same line. */
function afterComment(text: string, offset: number): number {
  const [comment = ''] = /^[ \t]*\/\/[^\r\n]*/.exec(text.slice(offset)) ?? [];
  return offset + comment.length;
}

/** Takes its comma along, or the one before it, and the line that would be left empty. */
function removed(text: string, { offset, length, parent }: Node): string {
  const end = offset + length;
  const members = parent?.children ?? [];
  const before = members[members.findIndex((member) => member.offset === offset) - 1];
  const comma =
    commaAfter(text, end) ?? (before && commaAfter(text, before.offset + before.length));
  const isDirect = comma !== undefined && comma >= end && text.slice(end, comma).trim() === '';
  const stop = isDirect ? comma + 1 : end;
  const line = text.slice(0, offset).search(/\r?\n[ \t]*$/);
  const isOwnLine = line !== -1 && /^[ \t]*(?:\r?\n|$)/.test(text.slice(stop));
  const start = isOwnLine ? line : offset;
  if (isDirect || comma === undefined) {
    const gap = isDirect && !isOwnLine && text[stop] === ' ' ? 1 : 0;
    return splice(text, [start, stop + gap], '');
  }
  // A comment stands between the two, or the comma belongs to the member before.
  const [first, second] = [[start, stop] as const, [comma, comma + 1] as const].toSorted(
    ([one], [next]) => one - next,
  ) as [readonly [number, number], readonly [number, number]];
  return splice(splice(text, second, ''), first, '');
}

function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  let token: number = scanner.scan();
  while (trivia.has(token)) token = scanner.scan();
  return token === commaToken ? scanner.getTokenOffset() : undefined;
}

function written(text: string, value: unknown, indent: string): string {
  const lines = JSON.stringify(value, null, indentUnit(text)).split('\n');
  return lines.join(`${lineEnd(text)}${indent}`);
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** What the file itself uses for one level. */
function indentUnit(text: string): string {
  const [first = '  '] = /(?<=\n)[ \t]+(?=["/])/.exec(text) ?? [];
  return first;
}

function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function splice(text: string, [start, end]: readonly [number, number], added: string): string {
  return text.slice(0, start) + added + text.slice(end);
}
