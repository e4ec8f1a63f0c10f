import { join } from 'node:path';
import { bodySchemas, shortId, type Claim } from '../../context/claims/claim.ts';
import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import type { Pin } from '../../context/claims/pins.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { readComparedNumbers, type ComparedNumber } from '../../ingest/decide/compare-metrics.ts';
import { UserError } from '../../lib/error.ts';
import { nearest, oneOf } from '../../lib/suggest.ts';
import { readText } from '../../store/files.ts';
import { openState } from '../../store/state.ts';
import type { Project } from '../open/open.ts';
import { readWikiClaims } from '../open/wiki-claims-files.ts';
import { authorName } from './author-name.ts';
import { readConflicts } from './conflicts.ts';
import { readWritablePins } from './decide/writable-pins.ts';

export interface ReviewedConflict extends Omit<Conflict, 'variants'> {
  /** Each version, with the number that it gives if it was run. */
  readonly variants: readonly (Conflict['variants'][number] & {
    readonly number?: ComparedNumber | undefined;
  })[];
  /** How a model explains the difference. */
  readonly difference?: string | undefined;
}

/**
 * The open conflicts, with the numbers that their versions give and the difference between them.
 */
export async function loadReviewedConflicts(
  project: Project,
): Promise<readonly ReviewedConflict[]> {
  const { dir } = project;
  const conflicts = await readConflicts(dir);
  if (conflicts.length === 0) return [];
  const [differences, withheld] = await Promise.all([
    Promise.all(conflicts.map((conflict) => readDifference(dir, conflict))),
    Promise.all(conflicts.map(({ subject }) => isWithheld(project, subject))),
  ]);
  const state = openState(dir);
  try {
    return conflicts.map((conflict, index) => {
      const numbers = readComparedNumbers(state, conflict.subject);
      const variants = conflict.variants.map((variant) => {
        const number = numbers.get(variant.id);
        const isHidden = number?.value !== undefined && withheld[index] === true;
        return { ...variant, number: isHidden ? hiddenNumber : number };
      });
      const difference = differences[index];
      return { ...conflict, variants, ...(difference !== undefined && { difference }) };
    });
  } finally {
    state.close();
  }
}

const hiddenNumber: ComparedNumber = {
  failure: 'not shown: not everybody sees every row of its dataset',
};

/**
 * True if a number over all rows would tell somebody of rows that they may not see. It can be from
 * before there were row rules.
 */
async function isWithheld(project: Project, subject: string): Promise<boolean> {
  const { connection = '', dataset = '' } = parseSubject(subject) ?? {};
  if (!project.warehouses.includes(connection)) return false;
  if (project.warehouseIdentity(connection) !== undefined) return true;
  const { model } = await project.model(connection);
  return model.datasets.get(dataset)?.access !== undefined;
}

/** From the claim in which a model contradicts these versions; undefined if there is none. */
async function readDifference(
  dir: string,
  { subject, kind, variants }: Conflict,
): Promise<string | undefined> {
  const claims = await readClaims(dir, subject);
  for (const claim of claims) {
    if (claim.kind !== 'contradiction' || claim.subject !== subject) continue;
    const { data } = bodySchemas.contradiction.safeParse(claim.body);
    const isAboutConflict =
      data?.kind === kind && variants.every(({ id }) => data.claims.includes(id));
    if (isAboutConflict) return data.why;
  }
  return undefined;
}

async function readClaims(dir: string, subject: string): Promise<readonly Claim[]> {
  const owner = parseSubject(subject);
  if (owner === undefined) return (await readWikiClaims(dir)).claims;
  const path = claimsPath(owner.connection, owner.dataset);
  return parseClaims(path, (await readText(join(dir, path), dir)) ?? '').claims;
}

/** Where the version stands, so that the decision can follow its source. */
async function readPlace(dir: string, subject: string, id: string): Promise<Pin['source']> {
  const claims = await readClaims(dir, subject);
  const [evidence] = claims.find((claim) => shortId(claim) === id)?.evidence ?? [];
  if (evidence === undefined) return undefined;
  const { connection, item } = evidence;
  return item === undefined ? { connection } : { connection, item };
}

interface PinRequest {
  readonly subject: string;
  /** Needed only if several things about the subject are contested. */
  readonly kind?: string | undefined;
  /** The id of a version, or at least its first four characters. */
  readonly choose: string;
  readonly why?: string | undefined;
}

/**
 * Turns a decision into a pin; throws an error with the choices if it fits no conflict or no
 * version.
 */
export async function createPin(project: Project, request: PinRequest): Promise<Pin> {
  const { dir } = project;
  const { pins } = await readWritablePins(project);
  const conflict = findConflict(await readConflicts(dir), request, pins);
  const { id: choose, says, gone } = findVersion(conflict, request.choose);
  if (gone === true && says === null)
    throw new UserError('version_unknown', `Nobody knows any more what ${choose} said.`, {
      hint: 'choose another version, or write it again with ktx review edit',
      exitCode: 2,
    });
  const source = await readPlace(dir, conflict.subject, choose);
  const pin = {
    subject: conflict.subject,
    kind: conflict.kind,
    choose,
    // What no source says any more stands by itself.
    ...(gone === true ? { says } : { ...(source && { source }), said: says }),
    seen: conflict.variants.map(({ id }) => id).sort(),
    by: await authorName(project),
    at: new Date().toISOString().slice(0, 10),
  };
  return request.why === undefined ? pin : { ...pin, why: request.why };
}

function findConflict(
  conflicts: readonly Conflict[],
  { subject, kind }: Pick<PinRequest, 'subject' | 'kind'>,
  decided: readonly Pin[],
): Conflict {
  const matches = conflictsNamed(conflicts, subject).filter(
    (conflict) => kind === undefined || conflict.kind === kind,
  );
  const [conflict, ...others] = matches;
  if (conflict !== undefined && others.length === 0) return conflict;
  const subjects = conflicts.map((contested) => contested.subject);
  const suggestion = nearest(subject, subjects)[0] ?? subjects.slice(0, 5).join(', ');
  const details = { exitCode: 2, details: { subjects } } as const;
  if (others.length > 0)
    throw new UserError('conflict_unknown', `${subject} has several conflicts. Name one.`, {
      hint: `--kind ${matches.map((match) => match.kind).join(' or ')}`,
      ...details,
    });
  const [own] = conflictsNamed(decided, subject);
  throw new UserError('conflict_unknown', `There is no conflict about ${subject}.`, {
    hint:
      own !== undefined
        ? `somebody has decided: ktx review undo ${own.subject} takes that back`
        : suggestion === ''
          ? 'there are no conflicts; ktx review list shows other open work'
          : `contested: ${suggestion}`,
    ...details,
  });
}

/** The only version whose id begins with the given text, or else that the named source states. */
function findVersion({ subject, variants }: Conflict, text: string): Conflict['variants'][number] {
  const byId = variants.filter(({ id }) => text.length >= 4 && id.startsWith(text));
  const bySource = variants.filter((variant) => sourcesOf(variant).includes(text));
  const [match, ...others] = byId.length === 0 ? bySource : byId;
  if (match !== undefined && others.length === 0) return match;
  const choices = variants.map((variant) => `${variant.id} (${sourcesOf(variant).join(', ')})`);
  throw new UserError('version_unknown', `${text} matches no single version of ${subject}.`, {
    hint: oneOf(choices),
    exitCode: 2,
  });
}

/** The connections that state a version; none for what no source states any more. */
function sourcesOf({ evidence, gone }: Conflict['variants'][number]): readonly string[] {
  return gone === true ? [] : evidence.map((place) => place.split(', ')[0] ?? place);
}

/** By the full subject, or by a name without type and connection, as `ktx explain` accepts it. */
function conflictsNamed<About extends Pick<Conflict, 'subject'>>(
  conflicts: readonly About[],
  name: string,
): readonly About[] {
  const exact = conflicts.filter(({ subject }) => subject === name);
  if (exact.length > 0) return exact;
  const matches = conflicts.filter(({ subject }) => {
    const untyped = subject.slice(subject.indexOf(':') + 1);
    const withoutConnection = untyped.slice(untyped.indexOf('.') + 1);
    return untyped === name || (parseSubject(subject) !== undefined && withoutConnection === name);
  });
  const isUnique = new Set(matches.map(({ subject }) => subject)).size === 1;
  return isUnique ? matches : [];
}
