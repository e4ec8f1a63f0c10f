import { bodySchemas, editEvidence, type Claim } from '../claims/claim.ts';
import type { Conflict } from '../compile/conflicts.ts';

/** What a person wrote in a file, or took out of it, at the place that a conflict is about. */
export interface PersonEdit {
  /** Hash of what the person left there. */
  readonly value: string;
  /** Path of the artifact, and the location in it. */
  readonly item: string;
  readonly location: string;
}

/**
 * Resolves conflicts by people's edits. An edit decides a conflict until a definition appears that
 * was not there when the edit was made; `records` are the `settled` claims that say which were.
 * `editOf` gives the person's edit for a conflict, or undefined if the place is as ktx wrote it.
 */
export function resolveByEdits(
  conflicts: readonly Conflict[],
  records: readonly Claim[],
  editOf: (conflict: Conflict) => PersonEdit | undefined,
) {
  const open: Conflict[] = [];
  const settled: Claim[] = [];
  for (const conflict of conflicts) {
    const edit = editOf(conflict);
    const existing = edit && records.find((record) => isRecordOf(record, conflict, edit));
    const record = edit && (existing ?? createRecord(conflict, edit));
    if (record) settled.push(record);
    const seen = record ? bodySchemas.settled.parse(record.body).seen : [];
    if (!conflict.variants.every(({ id }) => seen.includes(id))) open.push(conflict);
  }
  return { open, settled };
}

function isRecordOf({ subject, body }: Claim, conflict: Conflict, edit: PersonEdit): boolean {
  const { data } = bodySchemas.settled.safeParse(body);
  return subject === conflict.subject && data?.kind === conflict.kind && data.value === edit.value;
}

function createRecord(
  { subject, kind, variants }: Conflict,
  { value, item, location }: PersonEdit,
): Claim {
  const body = { kind, value, seen: variants.map(({ id }) => id).sort() };
  const evidence = [editEvidence('person', { item, location })];
  return { subject, kind: 'settled', body, evidence };
}
