import { z } from 'zod';

/** More alternatives in braces are refused: three times `{a,b}` are eight. */
const mostAlternatives = 100;

/**
 * A glob over paths with `/`: `*` and `?` match within a name, `**` any folders, `[a-z]` one
 * character, `{a,b}` one of several. A name with a leading dot only matches a pattern that has the
 * dot.
 */
export const globSchema = z
  .string()
  .min(1)
  .refine(
    (glob) => glob.length <= 1000 && expandBraces(glob) !== undefined,
    `this pattern is longer than 1,000 characters, or has more than ${mostAlternatives} alternatives in braces`,
  )
  .refine(
    (glob) => !/[?*+@!]\(|\{[^{},]*\.\.[^{},]*\}/.test(glob),
    'patterns have *, ?, **, [a-z] and {a,b} here, and no +(a), !(a) and {1..9}',
  );

/** In time that grows with the lengths of both only, whatever the pattern. */
export function matchesGlob(path: string, glob: string): boolean {
  const names = path.split('/');
  return (expandBraces(glob.replaceAll('\\', '/')) ?? []).some((plain) => {
    const parts = plain.split('/');
    // `a/**` means what is in the folder, and not the folder.
    const patterns = [...parts, ...(parts.length > 1 && parts.at(-1) === '**' ? ['*'] : [])].map(
      (part) => (part === '**' ? part : tokensOf(part)),
    );
    return matchesSequence(names, patterns, {
      isMany: (pattern) => pattern === '**',
      fits: (name, pattern) =>
        pattern === '**' ? !name.startsWith('.') : matchesName(name, pattern),
    });
  });
}

/**
 * Globs without braces that match the same together, in which a name with wildcards is only `*`:
 * for a listing whose paths `matchesGlob` then tests. The matcher of Node can take hours for a
 * name.
 */
export function coarseGlobs(glob: string): readonly string[] {
  const plain = expandBraces(glob.replaceAll('\\', '/')) ?? [];
  const coarse = (part: string) =>
    part === '**' || !/[*?[\]{}()!+@]/.test(part) ? part : part.startsWith('.') ? '.*' : '*';
  return [...new Set(plain.map((alternative) => alternative.split('/').map(coarse).join('/')))];
}

/** Undefined if there are too many. A brace without its end, or without a comma, is a character. */
function expandBraces(glob: string): readonly string[] | undefined {
  const finished: string[] = [];
  const waiting = [glob];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const alternatives = innermostAlternatives(next);
    if (alternatives === undefined) finished.push(next);
    else waiting.push(...alternatives);
    if (finished.length + waiting.length > mostAlternatives) return undefined;
  }
  return finished;
}

function innermostAlternatives(glob: string): readonly string[] | undefined {
  for (let close = glob.indexOf('}'); close !== -1; close = glob.indexOf('}', close + 1)) {
    const open = glob.lastIndexOf('{', close);
    const inner = glob.slice(open + 1, close);
    if (open !== -1 && inner.includes(',') && !inner.includes('}'))
      return inner.split(',').map((part) => glob.slice(0, open) + part + glob.slice(close + 1));
  }
  return undefined;
}

interface Steps<Item, Pattern> {
  /** Whether the pattern stands for any number of items. */
  readonly isMany: (pattern: Pattern) => boolean;
  readonly fits: (item: Item, pattern: Pattern) => boolean;
}

/** Follows all ways through the patterns at once, so that it never goes back. */
function matchesSequence<Item, Pattern>(
  items: readonly Item[],
  patterns: readonly Pattern[],
  { isMany, fits }: Steps<Item, Pattern>,
): boolean {
  /** Adds the places that are reached without an item. */
  const skipMany = (places: Iterable<number>): ReadonlySet<number> => {
    const reached = new Set(places);
    for (const place of reached) {
      const pattern = patterns[place];
      if (pattern !== undefined && isMany(pattern)) reached.add(place + 1);
    }
    return reached;
  };
  let places = skipMany([0]);
  for (const item of items) {
    const next: number[] = [];
    for (const place of places) {
      const pattern = patterns[place];
      if (pattern !== undefined && fits(item, pattern))
        next.push(isMany(pattern) ? place : place + 1);
    }
    if (next.length === 0) return false;
    places = skipMany(next);
  }
  return places.has(patterns.length);
}

type NameToken =
  | '*'
  | '?'
  | { readonly isIn: (character: string) => boolean; readonly isDot: boolean };

function matchesName(name: string, tokens: readonly NameToken[]): boolean {
  const [first] = tokens;
  if (name.startsWith('.') && !(typeof first === 'object' && first.isDot)) return false;
  return matchesSequence(Array.from(name), tokens, {
    isMany: (token) => token === '*',
    fits: (character, token) => typeof token === 'string' || token.isIn(character),
  });
}

/** macOS and Windows do not tell upper and lower case apart in names. */
const ignoresCase = process.platform === 'darwin' || process.platform === 'win32';

function tokensOf(part: string): readonly NameToken[] {
  const fold = (text: string) => (ignoresCase ? text.toLowerCase() : text);
  // Several stars in a row are one.
  const pieces = part.match(/\*+|\[[^\]]+\]|[^]/gu) ?? [];
  return pieces.map((piece): NameToken => {
    if (piece.startsWith('*')) return '*';
    if (piece === '?') return piece;
    const isIn = piece.length > 2 && piece.startsWith('[') ? classOf(fold(piece)) : undefined;
    return {
      isIn: (character) => isIn?.(fold(character)) ?? fold(piece) === fold(character),
      isDot: piece === '.',
    };
  });
}

/** `[abc]`, `[a-z]`, `[!a]`. */
function classOf(piece: string): (character: string) => boolean {
  const isNegated = /^\[[!^]/.test(piece);
  const members = piece.slice(isNegated ? 2 : 1, -1).match(/[^]-[^]|[^]/gu) ?? [];
  const isMember = (character: string) =>
    members.some((member) => {
      const [from = '', dash, to] = member;
      return dash === '-' && to !== undefined
        ? from <= character && character <= to
        : character === member;
    });
  return (character) => isMember(character) !== isNegated;
}
