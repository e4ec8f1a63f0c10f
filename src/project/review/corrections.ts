import { join } from 'node:path';
import { shortId, type ClaimKind } from '../../context/claims/claim.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { parseWikiSubject, parseSubject } from '../../context/claims/subject.ts';
import { subjects } from '../../context/claims/claim.ts';
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

/** Those about something that the project knows; sorted by subject. */
export async function listCorrections(project: Project): Promise<readonly ProposedCorrection[]> {
  const proposed = (await listNotes(project)).flatMap(({ id: note, text }) => {
    const found = parseCorrection(text);
    return found === undefined ? [] : [{ note, ...found }];
  });
  if (proposed.length === 0) return [];
  const { pins } = parsePins(await readText(join(project.dir, pinsPath), project.dir));
  const known = await listKnownSubjects(project);
  const found = proposed.map(async ({ note, corrects, words }) => {
    const subject = findSubject(known, corrects);
    const kind = subject === undefined ? undefined : correctedKind(subject);
    if (subject === undefined || kind === undefined) return [];
    const id = shortId({ subject, kind: kind as ClaimKind, body: words });
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
  const signal = new AbortController().signal;
  const explained = await explainSubject(project, { subject, measure: false }, { signal });
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

/** The subjects of all datasets, fields and metrics. Connects to no warehouse. */
async function listKnownSubjects(project: Project): Promise<readonly string[]> {
  const models = project.warehouses.map(async (connection) => {
    const { model } = await project.model(connection);
    return [...model.datasets.values()].flatMap(({ name: dataset, fields, metrics }) => [
      subjects.dataset(connection, dataset),
      ...[...fields.keys()].map((name) => subjects.field(connection, dataset, name)),
      ...[...metrics.keys()].map((name) => subjects.metric(connection, dataset, name)),
    ]);
  });
  return (await Promise.all(models)).flat();
}

/** The one subject of that name, with or without its type and its connection. */
function findSubject(known: readonly string[], named: string): string | undefined {
  if (parseWikiSubject(named) !== undefined) return named;
  const matches = known.filter((subject) => {
    const { connection = '' } = parseSubject(subject) ?? {};
    const untyped = subject.slice(subject.indexOf(':') + 1);
    return [subject, untyped, untyped.slice(connection.length + 1)].includes(named);
  });
  return matches.length === 1 ? matches[0] : undefined;
}
