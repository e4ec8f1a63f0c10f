/** The claims about terms and rules, relative to the project, until they are split into shards. */
export const wikiClaimsPath = 'claims/wiki.jsonl';
/** The folder of the shards. */
export const wikiClaimsFolder = 'claims/wiki';

/** The path of a page's file, relative to the project. */
export function wikiPath(page: string): string {
  return `wiki/${page}.md`;
}

/** The page of a path `<page>` or `<page>/<section>`, as the merge's base and its edits have it. */
export function pageName(path: string): string {
  return path.split('/')[0] ?? '';
}
