import { matchesGlob } from '../../../lib/patterns/glob.ts';
import type { ItemPlace } from '../../claim-collector.ts';
import type { Item } from '../../source.ts';
import type { DbtOwner } from '../dbt-project.ts';

/** The key of the item that has the repository's rules about who reviews what. */
export const codeOwnersKey = 'CODEOWNERS';

/** Where a repository can have the file. */
export const codeOwnersPaths = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;

/** Who has to review a file is only a guess at who answers for what it says. */
const confidence = 0.5;

const folderLine = '# The dbt project is in the folder: ';

/** The body of the item: the file, behind a line with the path of the project in its repository. */
export function codeOwnersBody(folder: string, text: string): string {
  return `${folderLine}${folder}\n${text.replaceAll('\r\n', '\n')}`;
}

/** Finds who owns a file of the project, by its key: the last rule that fits counts. */
export function readCodeOwners(items: readonly Item[]): (key: string) => DbtOwner | undefined {
  const item = items.find(({ key }) => key === codeOwnersKey);
  if (item === undefined) return () => undefined;
  const lines = item.body.split('\n');
  const [first = ''] = lines;
  const folder = first.startsWith(folderLine) ? first.slice(folderLine.length) : '';
  const rules = lines.flatMap((line, index) => readRule(line, index + 1) ?? []).toReversed();
  return (key) => {
    const path = folder === '' ? key : `${folder}/${key}`;
    const rule = rules.find(({ fits }) => fits(path));
    // A rule without owners takes the ownership away.
    if (rule === undefined || rule.owners.length === 0) return undefined;
    const place: ItemPlace = { key: codeOwnersKey, line: rule.line, quote: rule.text };
    return { text: rule.owners.join(', '), place, confidence };
  };
}

interface CodeOwnersRule {
  readonly fits: (path: string) => boolean;
  readonly owners: readonly string[];
  readonly line: number;
  readonly text: string;
}

/** Undefined for comments and for the headings of GitLab's sections. */
function readRule(text: string, line: number): CodeOwnersRule | undefined {
  const [pattern, ...owners] = text
    .replace(/(^|\s)#.*$/, '')
    .trim()
    .split(/\s+/);
  if (pattern === undefined || pattern === '' || /^\^?\[/.test(pattern)) return undefined;
  return { fits: matcherOf(pattern), owners, line, text };
}

/**
 * Patterns as git ignores files: without a slash inside, they fit in every folder. Plain ones are
 * compared, because thousands of models meet hundreds of rules.
 */
function matcherOf(pattern: string): (path: string) => boolean {
  const own = pattern.replace(/^\//, '').replace(/\/$/, '');
  const isFolder = pattern.endsWith('/');
  const isAnchored = pattern.startsWith('/') || own.includes('/');
  if (!/[*?[{\\]/.test(own)) {
    const steps = (path: string) => (isFolder ? path.split('/').slice(0, -1) : path.split('/'));
    if (!isAnchored) return (path) => steps(path).includes(own);
    return (path) => path.startsWith(`${own}/`) || (path === own && !isFolder);
  }
  const rooted = isAnchored || own.startsWith('**') ? own : `**/${own}`;
  // `docs/*` has the files of the folder, without those of its folders.
  const isFlat = !isFolder && (own.endsWith('/*') || own === '**');
  const globs = [...(isFolder ? [] : [rooted]), ...(isFlat ? [] : [`${rooted}/**`])];
  return (path) => globs.some((glob) => matchesGlob(path, glob));
}
