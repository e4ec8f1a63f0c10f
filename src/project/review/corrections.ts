import { join } from 'node:path';
import { shortId, type ClaimKind } from '../../context/claims/claim.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { UserError } from '../../lib/error.ts';
import { parseCorrection } from '../../sources/notes/correction.ts';
import { readText } from '../../store/files.ts';
import { explainSubject } from '../answer/explain.ts';
import { listNotes } from '../open/known-notes.ts';
import type { Project } from '../open/open.ts';
import type { OpenQuestion } from './decide/deferred.ts';
import { correctedKind } from './decide/find-corrected.ts';
import type { createOwnDefinition } from './decide/own-definition.ts';

/** A correction that an agent handed in, and that no person has decided about. */
export interface ProposedCorrection {
  readonly subject: string;
  readonly kind: string;
  /** As `ktx review accept` takes it. */
  readonly id: string;
  /** The words that the agent proposes. */
  readonly says: string;
  /** What holds now; undefined if nothing is said about it. */
  readonly now?: unknown;
  /** Short ids of all claims that the words would take the place of. */
  readonly seen: readonly string[];
  /** The id of the note. */
  readonly note: string;
}

/** All of them, also about what the project does not know any more; sorted by subject. */
export async function listCorrections(project: Project): Promise<readonly ProposedCorrection[]> {
  const proposed = (await listNotes(project)).flatMap(({ id: note, text }) => {
    const found = parseCorrection(text);
    return found === undefined ? [] : [{ note, ...found }];
  });
  if (proposed.length === 0) return [];
  const { pins } = parsePins(await readText(join(project.dir, pinsPath), project.dir));
  const found = proposed.map(async ({ note, corrects: subject, words }) => {
    const kind: ClaimKind = correctedKind(subject) ?? 'description';
    const id = shortId({ subject, kind, body: words });
    const isDecided = pins.some(
      (pin) => pin.subject === subject && pin.kind === kind && pin.seen.includes(id),
    );
    return isDecided ? [] : [await describeCorrection(project, { subject, kind, id, note, words })];
  });
  return (await Promise.all(found)).flat().sort((a, b) => (a.subject < b.subject ? -1 : 1));
}

interface FoundCorrection {
  readonly subject: string;
  readonly kind: string;
  readonly id: string;
  readonly note: string;
  readonly words: string;
}

async function describeCorrection(
  project: Project,
  { words, ...found }: FoundCorrection,
): Promise<ProposedCorrection> {
  const { subject, kind } = found;
  const { signal } = new AbortController();
  const explained = await explainSubject(project, { subject, measure: false }, { signal }).catch(
    (error: unknown) => {
      if (error instanceof UserError && error.code === 'subject_unknown') return [];
      throw error;
    },
  );
  const claims = explained
    .flatMap((explanation) => explanation.claims)
    .filter((claim) => claim.kind === kind);
  const now = claims.find(({ shown }) => shown)?.body;
  return { ...found, says: words, now, seen: claims.map(shortId) };
}

/** The one that a person names by its id, its subject or its note; undefined if none or several. */
export async function findCorrection(
  project: Project,
  named: string,
): Promise<ProposedCorrection | undefined> {
  const matches = (await listCorrections(project)).filter(
    ({ id, note, subject }) =>
      subject === named || (named.length >= 4 && (id.startsWith(named) || note.startsWith(named))),
  );
  return matches.length === 1 ? matches[0] : undefined;
}

/** What a person writes down who accepts it. */
export function toOwnDefinition({
  subject,
  kind,
  says,
  seen,
}: ProposedCorrection): Parameters<typeof createOwnDefinition>[1] {
  return { question: { subject, kind, ids: seen }, text: says };
}

export function correctionQuestion({ subject, kind, id }: ProposedCorrection): OpenQuestion {
  return { subject, kind, ids: [id] };
}
