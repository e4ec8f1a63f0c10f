import { CORE_SCHEMA, dump } from 'js-yaml';
import { z } from 'zod';
import { errorMessage } from '../../lib/error.ts';
import { readYaml } from '../../lib/yaml/read-yaml.ts';
import { anyJsonSchema, shortId, type Claim } from '../claims/claim.ts';
import { firstProblem, type Pin } from '../claims/pins.ts';
import type { RankedClaims } from './claim-precedence.ts';

export const conflictsPath = 'conflicts.yaml';

const variantSchema = z.object({
  /** The short id of the claim, as pins name it. */
  id: z.string(),
  says: anyJsonSchema,
  /** Who says so, and where: `handbook, sources/handbook/terms.md line 12`. */
  evidence: z.array(z.string()),
  /** True for what somebody chose and its source says no longer. */
  gone: z.literal(true).optional(),
});
const conflictSchema = z.object({
  subject: z.string(),
  kind: z.string(),
  variants: z.array(variantSchema).min(2),
});
/**
 * Two or more claims about one subject that disagree. The first one is shown until a person
 * decides.
 */
export type Conflict = Readonly<z.infer<typeof conflictSchema>>;

const header = `# Kept current by ktx: where sources disagree. What comes first is shown until somebody decides: \`ktx review\`.\n`;

export function findConflicts(rankedClaims: readonly RankedClaims[]): Conflict[] {
  return rankedClaims.flatMap(({ contested, lapsed }) => {
    const [first] = contested;
    if (!first) return [];
    const variants = [...contested.map(toVariant), ...(lapsed ? [goneVariant(lapsed)] : [])];
    return [{ subject: first.subject, kind: first.kind, variants }];
  });
}

/** What a person chose, and nobody says any more. */
function goneVariant({ choose, said, source, by, at }: Pin): Conflict['variants'][number] {
  const place = [source?.connection, source?.item].filter((part) => part !== undefined).join(', ');
  const decision = `${by ?? 'a person'} chose it${at === undefined ? '' : ` on ${at}`}`;
  return {
    id: choose,
    says: said ?? null,
    evidence: [`${place === '' ? 'no longer there' : `no longer in ${place}`}; ${decision}`],
    gone: true,
  };
}

function toVariant(claim: Claim): Conflict['variants'][number] {
  const evidence = claim.evidence.map(({ connection, item, location, owner }) => {
    const place = [item, location].filter((part) => part !== undefined).join(' ');
    const by = owner === undefined ? '' : `, owner ${owner}`;
    return `${place === '' ? connection : `${connection}, ${place}`}${by}`;
  });
  return { id: shortId(claim), says: claim.body, evidence: [...new Set(evidence)] };
}

/** The text of the file; undefined without conflicts. Equal conflicts give equal bytes. */
export function renderConflicts(conflicts: readonly Conflict[]): string | undefined {
  if (conflicts.length === 0) return undefined;
  const sortKey = ({ subject, kind }: Conflict) => `${subject}\n${kind}`;
  const sorted = conflicts.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  return (
    header +
    dump({ conflicts: sorted }, { schema: CORE_SCHEMA, flowLevel: 5, lineWidth: -1, noRefs: true })
  );
}

const conflictsSchema = z.object({ conflicts: z.array(conflictSchema) });

/**
 * The conflicts in the file. A file that cannot be read has none, and `conflictsFault` says why:
 * the next ingest writes it again.
 */
export function parseConflicts(text: string | undefined): readonly Conflict[] {
  const read = readConflictsText(text);
  return Array.isArray(read) ? read : [];
}

/** Why the file cannot be read, so that nobody knows what is contested. No file is no fault. */
export function conflictsFault(text: string | undefined): string | undefined {
  const read = readConflictsText(text);
  return typeof read === 'string' ? read : undefined;
}

function readConflictsText(text: string | undefined): readonly Conflict[] | string {
  if (text === undefined) return [];
  if (!text.isWellFormed()) return text.slice(1) || 'it is not valid UTF-8';
  if (text.trim() === '') return 'it is empty';
  try {
    const { data, error } = conflictsSchema.safeParse(readYaml(text));
    return error === undefined ? data.conflicts : firstProblem(error);
  } catch (error) {
    return `it is not valid YAML: ${errorMessage(error).split('\n')[0]}`;
  }
}
