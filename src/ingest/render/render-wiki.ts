import type { Claim } from '../../context/claims/claim.ts';
import { parseClaims, renderClaims } from '../../context/claims/claims-file.ts';
import { uniteBases } from '../../context/merge/merge-base.ts';
import { compileWiki } from '../../context/wiki/compile-wiki.ts';
import { removedPath } from '../../context/merge/merge-dataset.ts';
import type { Pin } from '../../context/claims/pins.ts';
import { dropOrphans } from '../../context/claims/model-decisions.ts';
import { resolveByEdits } from '../../context/merge/resolve-by-edit.ts';
import { mergePage } from '../../context/wiki/merge-page.ts';
import { sectionPaths } from '../../context/wiki/page-sections.ts';
import { pageName, wikiClaimsPath, wikiPath } from '../../context/wiki/wiki-paths.ts';
import { shortHash } from '../../lib/hash.ts';
import type { KeptEdit } from '../report.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { Write } from '../publish/publish.ts';

interface Wiki {
  readonly claims: readonly Claim[];
  readonly retained: (claim: Claim) => Claim | undefined;
  readonly pins: readonly Pin[];
}

/** The pages of the wiki as they shall be, and the claims about terms and rules. Pure. */
export function renderWiki({ claims, retained, pins }: Wiki, view: FileTree) {
  const file = parseClaims(wikiClaimsPath, view.get(wikiClaimsPath) ?? '');
  const all = [...claims, ...file.claims.flatMap((claim) => retained(claim) ?? [])];
  const { pages, conflicts, quarantined } = compileWiki(all, pins);
  const standing = dropOrphans(all, { pins });
  const compiled = new Map(pages.map((page) => [page.page, page]));
  const edits = file.claims.filter(({ kind }) => kind === 'edit');
  const known = [...file.base.keys(), ...edits.map(removedPath)].map(pageName);
  const results = [...new Set([...compiled.keys(), ...known])].sort().map((page) => {
    const at = wikiPath(page);
    return {
      at,
      page,
      result: mergePage({
        page,
        compiled: compiled.get(page),
        text: view.get(at),
        base: file.base,
        edits,
      }),
    };
  });
  const base = new Map(results.flatMap(({ result }) => [...result.base]));
  const places = new Map(pages.flatMap((page) => [...sectionPaths(page)]));
  const kept = new Map(results.flatMap(({ result }) => [...result.kept]));
  const removed = results.flatMap(({ result }) => result.edits);
  const { open, settled } = resolveByEdits(
    conflicts,
    file.claims.filter(({ kind }) => kind === 'settled'),
    ({ subject }) => {
      const location = places.get(subject) ?? '';
      const gone = removed.some(
        (edit) => removedPath(edit) === location || removedPath(edit) === pageName(location),
      );
      const value = kept.get(location) ?? (gone ? 'removed' : undefined);
      return value === undefined
        ? undefined
        : { value, item: wikiPath(pageName(location)), location };
    },
  );
  const own = { path: wikiClaimsPath, artifact: wikiClaimsPath };
  const isWritten = results.some(
    ({ result }) => result.outcome === 'written' || result.outcome === 'deleted',
  );
  const interim: Write = {
    ...own,
    step: 'base_recorded',
    text: renderClaims({ ...file, base: uniteBases(file.base, base) }),
  };
  const text = renderClaims({
    base,
    claims: [...standing, ...removed, ...settled],
    damaged: file.damaged,
  });
  const writes: Write[] = [
    ...(isWritten ? [interim] : []),
    ...results
      .filter(({ result }) => result.outcome === 'written' || result.outcome === 'deleted')
      .map(({ at, result }): Write => ({
        step: 'file_written',
        path: at,
        text: result.text,
        artifact: at,
      })),
    { ...own, step: 'claims_written', text },
  ];
  const isNothing = text === undefined && !view.has(wikiClaimsPath);
  return {
    writes: isNothing ? [] : writes,
    conflicts: open,
    claims: standing,
    leftAlone: results.flatMap(({ at, result: { reason } }) =>
      reason === undefined ? [] : [{ path: at, reason }],
    ),
    stale: results.flatMap(({ at, result }) => result.stale.map((path) => ({ path, at }))),
    keptEdits: results.flatMap(({ at, result }): KeptEdit[] => [
      ...[...result.kept].map(([path, state]) => ({
        path,
        at,
        isRemoval: false,
        mark: shortHash(`${path} ${state}`, 16),
      })),
      ...result.edits.map((edit) => ({
        path: removedPath(edit),
        at,
        isRemoval: true,
        mark: shortHash(removedPath(edit), 16),
      })),
    ]),
    quarantined: [
      ...quarantined.map(({ claim: { subject, kind }, reason }) => ({ subject, kind, reason })),
      ...file.damaged.map(({ path, line, reason }) => ({
        subject: path,
        kind: 'line',
        reason,
        location: `${path}:${line}`,
      })),
    ],
  };
}
