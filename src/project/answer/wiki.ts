import { basename, join } from 'node:path';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { compileWiki } from '../../context/wiki/compile-wiki.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { applyModelDecisions } from '../../context/claims/model-decisions.ts';
import { sectionPaths, sectionSubject, listSections } from '../../context/wiki/page-sections.ts';
import { wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import type { SearchDocument } from '../../search/documents.ts';
import { readAnyText } from '../../store/files.ts';
import { readConflicts } from '../review/conflicts.ts';
import { listFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { openStaleness } from '../review/stale.ts';

/** A section of the wiki: a term, a rule, or whatever a person wrote below a second-level heading. */
export interface PageSection {
  /** `term:net_revenue`, `rule:…`; of other pages `page:<page>/<section>`. */
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  readonly path: string;
  readonly line: number;
  readonly by: 'ktx' | 'person';
  readonly isContested: boolean;
  /** Why it is stale: it leans on what has changed since a model read it. */
  readonly stale: string | undefined;
  /** Subjects that are the same. */
  readonly alsoNamed: readonly string[];
}

export async function listWikiFiles(dir: string): Promise<readonly string[]> {
  return listFiles(dir, 'wiki', /^[^.].*\.md$/);
}

/** Every section of every page, in their order. */
export async function readWikiSections(project: Project): Promise<readonly PageSection[]> {
  const { dir } = project;
  const stale = await (await openStaleness(project)).ofWiki();
  const contested = new Set((await readConflicts(dir)).map(({ subject }) => subject));
  const [lines, decided] = await Promise.all(
    [wikiClaimsPath, pinsPath].map((path) => readAnyText(join(dir, path), dir)),
  );
  const { base, claims } = parseClaims(wikiClaimsPath, lines ?? '');
  const { pins } = parsePins(decided);
  const compiled = compileWiki(claims, pins).pages.flatMap((page) => [...sectionPaths(page)]);
  const others = Map.groupBy(applyModelDecisions(claims, pins).canonical, ([, subject]) => subject);
  const subjects = new Map(compiled.map(([subject, place]) => [place, subject]));
  const pages = (await listWikiFiles(dir)).map(async (path) => {
    const text = (await readAnyText(join(dir, path), dir)) ?? '';
    const page = basename(path, '.md');
    return listSections(page, text, base).map(({ key, ...section }) => {
      const subject = subjects.get(`${page}/${key}`) ?? sectionSubject(path, section.title);
      const alsoNamed = (others.get(subject) ?? []).map(([name]) => name);
      return {
        ...section,
        subject,
        path,
        isContested: contested.has(subject),
        alsoNamed,
        stale: stale.get(subject),
      };
    });
  });
  return (await Promise.all(pages)).flat();
}

export function wikiDocument({
  subject,
  title,
  text,
  path,
  isContested,
  stale,
}: PageSection): SearchDocument {
  const body = text
    .replace(/^## .*\n/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const kind = subject.startsWith('rule:') ? 'rule' : 'term';
  const marks = {
    ...(isContested && { contested: true }),
    ...(stale !== undefined && { stale: true }),
  };
  return {
    kind,
    connection: 'wiki',
    subject,
    name: title,
    parent: path,
    description: body.slice(0, 600),
    file: path,
    ...marks,
  };
}
