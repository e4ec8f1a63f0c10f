import type { Claim } from '../../context/claims/claim.ts';
import type { ClaimsFile } from '../../context/claims/claims-file.ts';
import { dropOrphans } from '../../context/claims/model-decisions.ts';
import type { Pin } from '../../context/claims/pins.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import type { Authority } from '../../context/compile/authority.ts';
import { uniteBases } from '../../context/merge/merge-base.ts';
import { removedPath } from '../../context/merge/merge-dataset.ts';
import { resolveByEdits, type PersonEdit } from '../../context/merge/resolve-by-edit.ts';
import { compileWiki } from '../../context/wiki/compile-wiki.ts';
import { mergePage, type WikiMergeResult } from '../../context/wiki/merge-page.ts';
import { sectionPaths } from '../../context/wiki/page-sections.ts';
import type { WikiPage } from '../../context/wiki/wiki.ts';
import { renderWikiClaims } from '../../context/wiki/wiki-claims.ts';
import { pageName, wikiPath } from '../../context/wiki/wiki-paths.ts';
import { shortHash } from '../../lib/hash.ts';
import { parseMergedWikiClaims, type MergedClaims } from '../fetch/merged-claims.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { FileWrite } from '../publish/rendering.ts';
import type { KeptEdit } from '../report.ts';
import { damagedLineFault } from './render-connection.ts';

interface WikiInput {
  readonly claims: readonly Claim[];
  /** The part of a recorded claim that stands beside them. */
  readonly retain: (claim: Claim) => Claim | undefined;
  readonly pins: readonly Pin[];
  readonly authority: Authority | undefined;
  readonly merged: MergedClaims | undefined;
}

interface MergedPage {
  /** Path of the page's file. */
  readonly at: string;
  readonly result: WikiMergeResult;
}

/** Renders the pages of the wiki, and the claims about terms and rules. Pure. */
export function renderWiki(input: WikiInput, tree: FileTree) {
  const { claims, retain, pins, authority, merged } = input;
  const file = parseMergedWikiClaims(tree, merged);
  const all = [...claims, ...file.claims.flatMap((claim) => retain(claim) ?? [])];
  const compilation = compileWiki(all, pins, authority);
  const standing = dropOrphans(all, { pins });
  const pages = mergePages(compilation.pages, file, tree);
  const records = file.claims.filter(({ kind }) => kind === 'settled');
  const { open, settled } = resolveByEdits(
    compilation.conflicts,
    records,
    personEditFinder(compilation.pages, pages),
  );
  const base = new Map(pages.flatMap(({ result }) => [...result.base]));
  const edits = pages.flatMap(({ result }) => result.edits);
  const { damaged } = file;
  const claimsFile = { base, claims: [...standing, ...edits, ...settled], damaged };
  return {
    writes: wikiWrites(pages, {
      before: () => renderWikiClaims({ ...file, base: uniteBases(file.base, base) }, tree.keys()),
      // What was written before the pages can be split when this is not, and the reverse.
      after: (before) => renderWikiClaims(claimsFile, [...tree.keys(), ...before.keys()]),
    }),
    conflicts: open,
    claims: standing,
    leftAlone: pages.flatMap(({ at, result: { reason } }) =>
      reason === undefined ? [] : [{ path: at, reason }],
    ),
    stale: pages.flatMap(({ at, result }) => result.stale.map((path) => ({ path, at }))),
    keptEdits: pages.flatMap(listKeptSections),
    quarantined: [
      ...compilation.quarantined.map(({ claim: { subject, kind }, reason }) => ({
        subject,
        kind,
        reason,
      })),
      ...damaged.map(damagedLineFault),
    ],
  };
}

/** Merges every page that is compiled, or that the base or an edit names. */
function mergePages(
  compiledPages: readonly WikiPage[],
  { base, claims }: ClaimsFile,
  tree: FileTree,
): MergedPage[] {
  const compiled = new Map(compiledPages.map((page) => [page.page, page]));
  const edits = claims.filter(({ kind }) => kind === 'edit');
  const recorded = [...base.keys(), ...edits.map(removedPath)].map(pageName);
  return [...new Set([...compiled.keys(), ...recorded])].sort().map((page) => {
    const at = wikiPath(page);
    const text = tree.get(at);
    return { at, result: mergePage({ page, compiled: compiled.get(page), text, base, edits }) };
  });
}

/**
 * A function that finds a person's edit of the section that a conflict is about; undefined if they
 * did not edit it.
 */
function personEditFinder(
  compiledPages: readonly WikiPage[],
  pages: readonly MergedPage[],
): (conflict: Conflict) => PersonEdit | undefined {
  const sectionsBySubject = new Map(compiledPages.flatMap((page) => [...sectionPaths(page)]));
  const keptHashes = new Map(pages.flatMap(({ result }) => [...result.kept]));
  const removed = new Set(pages.flatMap(({ result }) => result.edits.map(removedPath)));
  return ({ subject }) => {
    const location = sectionsBySubject.get(subject) ?? '';
    const isRemoved = removed.has(location) || removed.has(pageName(location));
    const value = keptHashes.get(location) ?? (isRemoved ? 'removed' : undefined);
    return value === undefined
      ? undefined
      : { value, item: wikiPath(pageName(location)), location };
  };
}

/** The texts of the claims files by path; undefined: removed. */
type ClaimsTexts = ReadonlyMap<string, string | undefined>;

/** The claims files before the pages are written, and after, given what was written before. */
interface WikiClaimsTexts {
  readonly before: () => ClaimsTexts;
  readonly after: (before: ClaimsTexts) => ClaimsTexts;
}

function wikiWrites(pages: readonly MergedPage[], { before, after }: WikiClaimsTexts): FileWrite[] {
  const changed = pages.filter(
    ({ result: { outcome } }) => outcome === 'written' || outcome === 'deleted',
  );
  const pageWrites = changed.map(({ at, result: { text } }): FileWrite => ({
    step: 'file_written',
    path: at,
    text,
    artifact: at,
  }));
  const textsBefore: ClaimsTexts = changed.length === 0 ? new Map() : before();
  const baseWrites = [...textsBefore].flatMap(([path, text]): FileWrite[] =>
    text === undefined ? [] : [{ step: 'base_recorded', path, text, artifact: path }],
  );
  const claimsWrites = [...after(textsBefore)].map(([path, text]): FileWrite => ({
    step: 'claims_written',
    path,
    text,
    artifact: path,
  }));
  return [...baseWrites, ...pageWrites, ...claimsWrites];
}

function listKeptSections({ at, result }: MergedPage): KeptEdit[] {
  const kept = [...result.kept].map(([path, hash]) => ({
    path,
    at,
    isRemoval: false,
    mark: shortHash(`${path} ${hash}`, 16),
  }));
  const removed = result.edits.map((edit) => ({
    path: removedPath(edit),
    at,
    isRemoval: true,
    mark: shortHash(removedPath(edit), 16),
  }));
  return [...kept, ...removed];
}
