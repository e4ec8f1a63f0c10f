import { basename, join } from 'node:path';
import { compileWiki } from '../../context/wiki/compile-wiki.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { applyModelDecisions } from '../../context/claims/model-decisions.ts';
import { pageFault } from '../../context/wiki/page-fault.ts';
import { sectionPaths, sectionSubject, listSections } from '../../context/wiki/page-sections.ts';
import { hasOtherLetters } from '../../lib/patterns/transliterate.ts';
import type { SearchDocument } from '../../search/documents.ts';
import { readAnyText } from '../../store/files.ts';
import { readTextOrReason } from '../../store/text-or-reason.ts';
import { readConflicts } from '../review/conflicts.ts';
import { readAuthority } from '../open/authority.ts';
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { readWikiClaims } from '../open/wiki-claims-files.ts';
import { openStaleness } from '../review/stale.ts';

/** A section of a wiki page, below a second-level heading: a term, a rule, or a person's text. */
export interface PageSection {
  /** `term:net_revenue`, `rule:…`, or `page:<page>/<section>`. */
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  readonly path: string;
  readonly line: number;
  readonly by: 'ktx' | 'person';
  readonly isContested: boolean;
  /** Why it is stale; undefined if it is not. */
  readonly stale: string | undefined;
  /** Other subjects that mean the same. */
  readonly alsoNamed: readonly string[];
}

export async function listWikiFiles(dir: string): Promise<readonly string[]> {
  return listProjectFiles(dir, 'wiki', /^[^.].*\.md$/);
}

/** Pages that cannot be read, and why. */
export async function findUnreadablePages(
  dir: string,
): Promise<readonly { readonly path: string; readonly reason: string }[]> {
  const pages = (await listWikiFiles(dir)).map(async (path) => {
    const reason = pageFault((await readTextOrReason(join(dir, path), dir)) ?? '');
    return reason === undefined ? [] : [{ path, reason }];
  });
  return (await Promise.all(pages)).flat();
}

/** Every section of every page, in page order. */
export async function readWikiSections(project: Project): Promise<readonly PageSection[]> {
  if (project.offersWiki === false) return [];
  const { dir } = project;
  const stale = await (await openStaleness(project)).ofWiki();
  const contested = new Set((await readConflicts(dir)).map(({ subject }) => subject));
  const { base, subjects, sameSubjects } = await readSectionSubjects(project);
  const pages = (await listWikiFiles(dir)).map(async (path) => {
    const text = (await readTextOrReason(join(dir, path), dir)) ?? '';
    if (pageFault(text) !== undefined) return [];
    const page = basename(path, '.md');
    return listSections(page, text, base).map(({ key, ...section }) => {
      const subject = subjects.get(`${page}/${key}`) ?? sectionSubject(path, section.title);
      const alsoNamed = (sameSubjects.get(subject) ?? []).map(([name]) => name);
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

/**
 * What the claims say about the sections. The claims themselves are no longer in memory while the
 * pages are read.
 */
async function readSectionSubjects({ dir, config }: Project) {
  const [{ base, claims }, pinText] = await Promise.all([
    readWikiClaims(dir, readAnyText),
    readAnyText(join(dir, pinsPath), dir),
  ]);
  const { pins } = parsePins(pinText);
  const compiled = compileWiki(claims, pins, readAuthority(config)).pages.flatMap((page) => [
    ...sectionPaths(page),
  ]);
  return {
    base,
    /** The subject of each place. */
    subjects: new Map(compiled.map(([subject, place]) => [place, subject])),
    sameSubjects: Map.groupBy(
      applyModelDecisions(claims, pins).canonicalSubjects,
      ([, subject]) => subject,
    ),
  };
}

export function buildWikiDocument({
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
    // Its subject is a hash, which tells nobody what was found.
    ...(hasOtherLetters(title) && { detail: title }),
    description: body.slice(0, 600),
    file: path,
    ...marks,
  };
}
