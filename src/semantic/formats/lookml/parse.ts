import { UserError } from '../../../lib/error.ts';

/** `key: value`, `key: name { … }`; a list is the texts of its members, pairs as `name: value`. */
export interface LookmlEntry {
  readonly key: string;
  /** Of a block. */
  readonly name: string;
  readonly value: string | readonly string[] | readonly LookmlEntry[];
}

export function isBlock(
  entry: LookmlEntry,
): entry is LookmlEntry & { readonly value: readonly LookmlEntry[] } {
  return Array.isArray(entry.value) && !isTexts(entry.value);
}

function isTexts(value: readonly unknown[]): boolean {
  return value.length > 0 && value.every((one) => typeof one === 'string');
}

const space = /(?:\s+|#[^\n]*)*/y;
const keyPattern = /([A-Za-z_][\w-]*)\s*:/y;
const wordPattern = /[^\s{}[\],"#;]+/y;
const textPattern = /"((?:[^"\\]|\\[^])*)"/y;
/** Properties that hold SQL or HTML up to `;;`. */
const longKey = /^(?:sql|html|expression)/;

/** The entries of a LookML file. Throws `import_invalid` with the line. */
export function parseLookml(text: string): readonly LookmlEntry[] {
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text) ?? undefined;
    at += found?.[0].length ?? 0;
    return found;
  };
  const fail = (wanted: string): UserError => {
    const line = text.slice(0, at).split('\n').length;
    return new UserError('import_invalid', `This is not LookML: line ${line} has no ${wanted}`, {
      hint: 'Check the file with Looker.',
      exitCode: 2,
    });
  };
  const take = (symbol: string): boolean => {
    match(space);
    if (text[at] !== symbol) return false;
    at += 1;
    return true;
  };
  const scalar = (): string | undefined => {
    match(space);
    const quoted = match(textPattern);
    return quoted === undefined
      ? match(wordPattern)?.[0]
      : quoted[1]?.replaceAll(/\\(["\\])/g, '$1');
  };
  const list = (): readonly string[] => {
    const members: string[] = [];
    while (!take(']')) {
      const member = scalar();
      if (member === undefined) throw fail('member of a list');
      const value = member.endsWith(':') ? scalar() : undefined;
      members.push(value === undefined ? member : `${member} ${value}`);
      take(',');
    }
    return members;
  };
  const entries = (isInner: boolean): readonly LookmlEntry[] => {
    const found: LookmlEntry[] = [];
    for (;;) {
      if (isInner && take('}')) return found;
      match(space);
      if (at >= text.length && !isInner) return found;
      const key = match(keyPattern)?.[1];
      if (key === undefined) throw fail('property');
      found.push(entry(key));
    }
  };
  const entry = (key: string): LookmlEntry => {
    if (longKey.test(key) && !/^sql_distinct_key_|^sql_case/.test(key)) {
      const end = text.indexOf(';;', at);
      const isLong = end >= 0 && !/^\s*(?:yes|no)\b/.test(text.slice(at, end));
      if (isLong) {
        const value = text.slice(at, end).trim();
        at = end + 2;
        return { key, name: '', value };
      }
    }
    if (take('{')) return { key, name: '', value: entries(true) };
    if (take('[')) return { key, name: '', value: list() };
    const value = scalar();
    if (value === undefined) throw fail(`value of ${key}`);
    return take('{') ? { key, name: value, value: entries(true) } : { key, name: '', value };
  };
  return entries(false);
}
