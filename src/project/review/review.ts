import { userInfo } from 'node:os';
import { join } from 'node:path';
import { bodySchemas } from '../../context/claims/claim.ts';
import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import { parsePins, pinsPath, type Pin } from '../../context/claims/pins.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { comparedNumbers, type ComparedNumber } from '../../ingest/rule/compare.ts';
import { UserError } from '../../lib/error.ts';
import { nearest } from '../../lib/suggest.ts';
import { readText } from '../../store/files.ts';
import { findRepository, gitLine } from '../../store/git.ts';
import { openState } from '../../store/state.ts';
import { readConflicts } from './conflicts.ts';
import type { Project } from '../open/open.ts';

export interface ReviewedConflict extends Omit<Conflict, 'variants'> {
  readonly variants: readonly (Conflict['variants'][number] & {
    readonly number?: ComparedNumber | undefined;
  })[];
  /** What a model found to differ, in its words. */
  readonly difference?: string | undefined;
}

/** What is contested, with the numbers of both definitions where they ran. */
export async function loadReviewedConflicts({
  dir,
}: Project): Promise<readonly ReviewedConflict[]> {
  const conflicts = await readConflicts(dir);
  if (conflicts.length === 0) return [];
  const differences = await Promise.all(conflicts.map((conflict) => differenceIn(dir, conflict)));
  const state = openState(dir);
  try {
    return conflicts.map((conflict, index) => {
      const numbers = comparedNumbers(state, conflict.subject);
      const variants = conflict.variants.map((variant) => ({
        ...variant,
        number: numbers.get(variant.id),
      }));
      return {
        ...conflict,
        variants,
        ...(differences[index] !== undefined && { difference: differences[index] }),
      };
    });
  } finally {
    state.close();
  }
}

async function differenceIn(
  dir: string,
  { subject, kind, variants }: Conflict,
): Promise<string | undefined> {
  const owner = parseSubject(subject);
  const path = owner ? claimsPath(owner.connection, owner.dataset) : wikiClaimsPath;
  const { claims } = parseClaims(path, (await readText(join(dir, path), dir)) ?? '');
  const found = claims.flatMap((claim) => {
    const { data } = bodySchemas.contradiction.safeParse(claim.body);
    const isMeant =
      claim.kind === 'contradiction' && claim.subject === subject && data?.kind === kind;
    return isMeant && variants.every(({ id }) => data.claims.includes(id)) ? [data.why] : [];
  });
  return found[0];
}

interface Choice {
  readonly subject: string;
  /** May be left out where only one thing of the subject is contested. */
  readonly kind?: string | undefined;
  /** The id of a version, or the beginning of one. */
  readonly choose: string;
  readonly why?: string | undefined;
}

/** The decision as a pin; what does not fit to a conflict is an error that names what there is. */
export async function createPin(
  { dir }: Project,
  { subject: asked, kind, choose, why }: Choice,
): Promise<Pin> {
  const { fault } = parsePins(await readText(join(dir, pinsPath), dir));
  if (fault !== undefined)
    throw new UserError('pins_unreadable', `${pinsPath} cannot be read: ${fault}`, {
      hint: 'correct the file',
      exitCode: 2,
    });
  const conflicts = await readConflicts(dir);
  const named = conflictsNamed(conflicts, asked).filter(
    (one) => kind === undefined || one.kind === kind,
  );
  const [conflict, other] = named;
  if (conflict === undefined || other !== undefined) {
    const subjects = conflicts.map((one) => one.subject);
    const hint = other
      ? `say which: --kind ${named.map((one) => one.kind).join(' or ')}`
      : `contested: ${(nearest(asked, subjects)[0] ?? subjects.slice(0, 5).join(', ')) || 'nothing'}`;
    throw new UserError('conflict_unknown', `Nothing to decide is known as ${asked}.`, {
      hint,
      exitCode: 2,
      details: { subjects },
    });
  }
  const { subject } = conflict;
  const chosen = conflict.variants.filter(({ id }) => choose.length >= 4 && id.startsWith(choose));
  if (chosen.length !== 1) {
    const ids = conflict.variants.map(({ id }) => id);
    throw new UserError('version_unknown', `${subject} has no one version ${choose}.`, {
      hint: `one of ${ids.join(', ')}`,
      exitCode: 2,
    });
  }
  const seen = conflict.variants.map(({ id }) => id).sort();
  const at = new Date().toISOString().slice(0, 10);
  const pin = {
    subject,
    kind: conflict.kind,
    choose: chosen[0]?.id ?? '',
    seen,
    by: await author(dir),
    at,
  };
  return why === undefined ? pin : { ...pin, why };
}

/** As `ktx explain` takes names too: with or without the type and the connection. */
function conflictsNamed(conflicts: readonly Conflict[], asked: string): readonly Conflict[] {
  const exact = conflicts.filter(({ subject }) => subject === asked);
  if (exact.length > 0) return exact;
  const found = conflicts.filter(({ subject }) => {
    const name = subject.slice(subject.indexOf(':') + 1);
    return (
      name === asked ||
      (parseSubject(subject) !== undefined && name.slice(name.indexOf('.') + 1) === asked)
    );
  });
  return new Set(found.map(({ subject }) => subject)).size === 1 ? found : [];
}

/** As git knows the person. */
async function author(dir: string): Promise<string> {
  const repository = await findRepository(dir);
  const name =
    repository && (await gitLine(repository.root, ['config', 'user.name'], { allow: [1] }));
  return name === undefined || name === '' ? userInfo().username : name;
}
