import { editEvidence, shortId, type Claim } from '../../context/claims/claim.ts';
import { renderClaims } from '../../context/claims/claims-file.ts';
import {
  parseSavedQuerySubject,
  savedQueryClaimsPath,
  savedQueryPath,
  savedQuerySubject,
  type SavedQueryRef,
} from '../../context/claims/saved-query-claims.ts';
import type { Authority } from '../../context/compile/authority.ts';
import { rankClaims } from '../../context/compile/claim-precedence.ts';
import { uniteBases } from '../../context/merge/merge-base.ts';
import { removedPath } from '../../context/merge/merge-dataset.ts';
import { mergeWholeFile } from '../../context/merge/merge-whole-file.ts';
import { type YamlFileContent, yamlFile } from '../../context/merge/yaml-text.ts';
import { shortHash } from '../../lib/hash.ts';
import { savedQuerySchema } from '../../semantic/query/saved-query.ts';
import { parseMergedClaims, type MergedClaims } from '../fetch/merged-claims.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { FileWrite } from '../publish/rendering.ts';
import type { KeptEdit, Quarantined } from '../report.ts';
import { damagedLineFault } from './render-connection.ts';

interface SavedQueriesInput {
  readonly claims: readonly Claim[];
  /** The part of a recorded claim that stands beside them. */
  readonly retain: (claim: Claim) => Claim | undefined;
  readonly authority: Authority | undefined;
  readonly merged: MergedClaims | undefined;
}

const header =
  'Kept current by ktx as long as nobody changes it. A file that you change stays as you leave it.';

const queryFile = /^semantic-layer\/[^/\\]+\/queries\/\w+\.yaml$/;

/** Renders the files of the saved queries that sources have, and the claims about them. Pure. */
export function renderSavedQueries(input: SavedQueriesInput, tree: FileTree) {
  const { claims, retain, authority, merged } = input;
  const file = parseMergedClaims(
    savedQueryClaimsPath,
    tree.get(savedQueryClaimsPath) ?? '',
    merged,
  );
  const standing = [...claims, ...file.claims.flatMap((claim) => retain(claim) ?? [])];
  const compiled = compileSavedQueries(standing, authority);
  const removedPaths = new Set(file.claims.filter(({ kind }) => kind === 'edit').map(removedPath));
  // Nothing that a file of claims says may reach another file than those of saved queries.
  const recorded = [...file.base.keys(), ...removedPaths].filter((path) => queryFile.test(path));
  const paths = new Set([...compiled.texts.keys(), ...recorded]);
  const merges = [...paths].sort().map((path) => {
    const isRemoved = removedPaths.has(path);
    const [wanted, text] = [compiled.texts.get(path), tree.get(path)];
    const before = text;
    return {
      path,
      before,
      ...mergeWholeFile({ key: path, wanted, text, base: file.base, isRemoved }),
    };
  });
  const base = new Map(merges.flatMap(({ path, hash }) => (hash ? [[path, hash] as const] : [])));
  const edits = merges.flatMap(({ path, isRemoved }) => (isRemoved ? [removalOf(path)] : []));
  const claimsText = renderClaims({ ...file, base, claims: [...standing, ...edits] });
  const isEmpty = claimsText === undefined && !tree.has(savedQueryClaimsPath);
  const changed = merges.filter(({ before, text }) => before !== text);
  const claimsFile = { path: savedQueryClaimsPath, artifact: savedQueryClaimsPath };
  const baseWrite: FileWrite = {
    ...claimsFile,
    step: 'base_recorded',
    text: renderClaims({ ...file, base: uniteBases(file.base, base) }),
  };
  const writes: FileWrite[] = [
    ...(changed.length === 0 ? [] : [baseWrite]),
    ...changed.map(({ path, text }): FileWrite => ({
      step: 'file_written',
      path,
      text,
      artifact: path,
    })),
    { ...claimsFile, step: 'claims_written', text: claimsText },
  ];
  return {
    writes: isEmpty ? [] : writes,
    claims: standing,
    keptEdits: merges.flatMap((merge) => listKept(merge, compiled.texts.get(merge.path))),
    quarantined: [...compiled.quarantined, ...file.damaged.map(damagedLineFault)],
  };
}

/** The text of each file by its path, and what cannot be written. */
function compileSavedQueries(claims: readonly Claim[], authority: Authority | undefined) {
  const texts = new Map<string, string>();
  const quarantined: Quarantined[] = [];
  const refuse = ({ subject, kind, ...rest }: Claim, reason: string) =>
    quarantined.push({ subject, kind, reason, claim: shortId({ subject, kind, body: rest.body }) });
  const bySubject = Map.groupBy(
    claims.filter(({ kind }) => kind === 'saved_query'),
    ({ subject }) => subject,
  );
  const taken = new Set<string>();
  for (const [subject, group] of bySubject) {
    const [first, ...others] = rankClaims(group, { authority }).ranked;
    const found = parseSavedQuerySubject(subject);
    if (first === undefined || found === undefined) continue;
    for (const claim of others) refuse(claim, 'another source has a query of this name');
    const path = savedQueryPath(found);
    if (taken.has(path.toLowerCase())) {
      refuse(first, 'another query has this name in other case');
      continue;
    }
    taken.add(path.toLowerCase());
    const { data, error } = savedQuerySchema.safeParse({
      query: found.name,
      ...(first.body as object),
    });
    if (data === undefined) refuse(first, error.issues[0]?.message ?? 'it is no query');
    else texts.set(path, fileText(found, first));
  }
  return { texts, quarantined };
}

function fileText({ name }: SavedQueryRef, { body }: Claim): string {
  return yamlFile(header, { query: name, ...(body as YamlFileContent) });
}

/** That a person deleted the file. */
function removalOf(path: string): Claim {
  const [, connection = '', , file = ''] = path.split('/');
  const name = file.replace(/\.yaml$/, '');
  return {
    subject: savedQuerySubject({ connection, name }),
    kind: 'edit',
    body: null,
    evidence: [editEvidence(connection, { item: path, location: path })],
  };
}

interface MergedFile {
  readonly path: string;
  readonly text: string | undefined;
  readonly isKept: boolean;
  readonly isRemoved: boolean;
}

/** What a person wrote or deleted, where ktx would have another file. */
function listKept(
  { path, text = '', isKept, isRemoved }: MergedFile,
  wanted: string | undefined,
): readonly KeptEdit[] {
  if (wanted === undefined || (!isKept && !isRemoved)) return [];
  const name = /(\w+)\.yaml$/.exec(path)?.[1] ?? path;
  const mark = shortHash(`${text} ${wanted}`, 16);
  return [{ path: `query ${name}`, at: path, isRemoval: isRemoved, mark }];
}
