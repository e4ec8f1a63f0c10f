import { CORE_SCHEMA, dump, load } from 'js-yaml';
import { z } from 'zod';
import { jsonSchema, shortId, type Claim } from '../claims/claim.ts';
import type { RankedClaims } from './claim-precedence.ts';

export const conflictsPath = 'conflicts.yaml';

const variantSchema = z.object({
  /** As pins name it. */
  id: z.string(),
  says: jsonSchema,
  /** Who says so, and where: `handbook, sources/handbook/terms.md line 12`. */
  evidence: z.array(z.string()),
});
const conflictSchema = z.object({
  subject: z.string(),
  kind: z.string(),
  variants: z.array(variantSchema).min(2),
});
/** Two or more claims about one subject that disagree; what is shown until somebody decides comes first. */
export type Conflict = Readonly<z.infer<typeof conflictSchema>>;

const header = `# Kept current by ktx: where sources disagree. What comes first is shown until somebody decides: \`ktx review\`.\n`;

export function findConflicts(verdicts: readonly RankedClaims[]): Conflict[] {
  const contested = verdicts.filter((verdict) => verdict.contested.length > 0);
  return contested.flatMap(({ contested: variants }) => {
    const [first] = variants;
    if (!first) return [];
    return [{ subject: first.subject, kind: first.kind, variants: variants.map(variantOf) }];
  });
}

function variantOf(claim: Claim): Conflict['variants'][number] {
  const evidence = claim.evidence.map(({ connection, item, location }) => {
    const place = [item, location].filter((part) => part !== undefined).join(' ');
    return place === '' ? connection : `${connection}, ${place}`;
  });
  return { id: shortId(claim), says: claim.body, evidence: [...new Set(evidence)] };
}

/** The file; undefined where nothing disagrees. Equal conflicts give equal bytes. */
export function renderConflicts(conflicts: readonly Conflict[]): string | undefined {
  if (conflicts.length === 0) return undefined;
  const key = ({ subject, kind }: Conflict) => `${subject}\n${kind}`;
  const sorted = conflicts.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  return (
    header +
    dump({ conflicts: sorted }, { schema: CORE_SCHEMA, flowLevel: 5, lineWidth: -1, noRefs: true })
  );
}

/** What the file says; nothing where it cannot be read: the next ingest writes it again. */
export function parseConflicts(text: string | undefined): readonly Conflict[] {
  try {
    const read = z
      .object({ conflicts: z.array(conflictSchema) })
      .safeParse(load(text ?? '', { schema: CORE_SCHEMA }));
    return read.data?.conflicts ?? [];
  } catch {
    return [];
  }
}
