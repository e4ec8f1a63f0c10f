import { bodySchemas, type Claim } from '../claims/claim.ts';
import type { Conflict } from '../compile/conflicts.ts';

/** What a person wrote, or took out, in place of what a conflict is about. */
export interface PersonEdit {
  /** Hash of it. */
  readonly value: string;
  /** Path of the artifact, and where in it. */
  readonly item: string;
  readonly location: string;
}

/**
 * A person's edit decides a conflict, until something is said that was not on the table when it was made. What was there is
 * recorded with the claims. `wordOn` tells what the person has there; undefined where it is ktx's.
 */
export function resolveByEdits(
  conflicts: readonly Conflict[],
  records: readonly Claim[],
  wordOn: (conflict: Conflict) => PersonEdit | undefined,
) {
  const [open, settled]: [Conflict[], Claim[]] = [[], []];
  for (const conflict of conflicts) {
    const word = wordOn(conflict);
    const record = word && records.find((one) => isAbout(one, conflict, word));
    const made = word && (record ?? recordOf(conflict, word));
    if (made) settled.push(made);
    const seen = made ? bodySchemas.settled.parse(made.body).seen : [];
    if (!conflict.variants.every(({ id }) => seen.includes(id))) open.push(conflict);
  }
  return { open, settled };
}

function isAbout({ subject, body }: Claim, conflict: Conflict, word: PersonEdit): boolean {
  const { data } = bodySchemas.settled.safeParse(body);
  return subject === conflict.subject && data?.kind === conflict.kind && data.value === word.value;
}

function recordOf(
  { subject, kind, variants }: Conflict,
  { value, item, location }: PersonEdit,
): Claim {
  const body = { kind, value, seen: variants.map(({ id }) => id).sort() };
  const evidence = {
    connection: 'person',
    origin: 'person',
    extractor: 'edit@1',
    item,
    location,
    confidence: 1,
  } as const;
  return { subject, kind: 'settled', body, evidence: [evidence] };
}
