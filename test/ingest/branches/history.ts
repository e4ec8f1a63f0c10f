import { z } from 'zod';
import { randomFrom } from '../killed-project.ts';

/** The columns that the documents describe. */
export const columns = [
  ['customers', 'name'],
  ['customers', 'region'],
  ['orders', 'amount'],
  ['orders', 'status'],
  ['orders', 'customer_id'],
] as const;
/** The tables whose files people take out or move; the last is not there at the start. */
export const tables = ['customers', 'orders', 'visits'] as const;
/** The terms that the documents define. */
export const terms = ['Churn', 'Active buyer', 'Basket'] as const;

/**
 * What somebody changes. In the warehouse: another table (`table`). In the documents: the
 * description of a column (`document`), a term (`term`), another term (`new term`). In what ktx
 * wrote: a description (`description`), the description taken out (`removal`), a column or a
 * metric taken out (`no column`, `no metric`), a metric of their own (`metric`), a comment
 * (`comment`), the words of a term (`words`), a section of their own (`section`), a section taken
 * out (`no section`), the ends of lines (`line ends`). Files of ktx: a dataset's taken out
 * (`no dataset`), under another name (`moved dataset`), that and the dataset under another name
 * (`renamed dataset`); a page taken out (`no page`) or under another name (`moved page`).
 * `decision`: a version of a contested term. `note`: something that ktx is told.
 */
const changeKinds = [
  'table',
  'document',
  'term',
  'new term',
  'description',
  'removal',
  'no column',
  'no metric',
  'metric',
  'comment',
  'words',
  'section',
  'no section',
  'line ends',
  'no dataset',
  'moved dataset',
  'renamed dataset',
  'no page',
  'moved page',
  'decision',
  'note',
] as const;
const hows = ['merge', 'squash', 'rebase', 'cherry-pick'] as const;
/** Which side of each file in conflict is taken; `hunks`: of each place, by turns. */
const resolutions = [
  'ours',
  'theirs',
  'union',
  'by turns',
  'hunks',
  'claims theirs',
  'claims ours',
  'markers',
  'no claims',
] as const;

const changeSchema = z.strictObject({
  kind: z.enum(changeKinds),
  /** Of the column or the term, counted from 0. */
  at: z.number(),
  /** An ingest follows. */
  isIngested: z.boolean(),
  /** The step at which the ingest is killed; then everything is committed as it lies there. */
  diesAt: z.number().optional(),
});
export type Change = z.infer<typeof changeSchema>;

const historySchema = z.strictObject({
  /** Of the branch that everything else comes into. */
  ours: z.array(changeSchema),
  others: z.array(
    z.strictObject({
      changes: z.array(changeSchema),
      how: z.enum(hows),
      resolution: z.enum(resolutions),
      /** An ingest follows, before the next branch. */
      isIngested: z.boolean(),
      /** The merge or the squash is reverted after that. */
      isReverted: z.boolean(),
    }),
  ),
  hasAttributes: z.boolean(),
  /** All branches come into main, as pull requests do. */
  isIntoMain: z.boolean(),
  /** The documents change after the last merge, before the next ingest. */
  movesOn: z.boolean(),
});
export type History = z.infer<typeof historySchema>;
export type Incoming = History['others'][number];

/** The history of a seed. */
export function drawHistory(seed: number): History {
  const random = randomFrom(seed);
  const number = (below: number) => Math.floor(random() * below);
  const flip = () => number(2) === 0;
  const pick = <T>(list: readonly [T, ...T[]]): T => list[number(list.length)] ?? list[0];
  const drawChanges = (): Change[] =>
    Array.from({ length: 1 + number(3) }, () => ({
      // Half of them come from the documents: those change what ktx wants to write.
      kind: flip() ? pick(['document', 'document', 'term', 'new term']) : pick(changeKinds),
      at: number(columns.length),
      isIngested: number(4) > 0,
      ...(number(8) === 0 && { diesAt: 1 + number(8) }),
    }));
  const drawn = drawChanges();
  const others = Array.from({ length: 1 + number(2) }, () => {
    const how = pick(hows);
    const resolution = pick(resolutions);
    const changes = drawChanges();
    return {
      changes: how === 'merge' ? changes : endIngested(changes),
      how,
      resolution,
      isIngested: flip(),
      isReverted: (how === 'merge' || how === 'squash') && number(8) === 0,
    };
  });
  // A branch that never had claims of its own leaves no trace of what its files are made from.
  const ours = others.every(({ how }) => how === 'merge') ? drawn : endIngested(drawn);
  const hasClaims = others.every(({ resolution }) => resolution !== 'no claims');
  return {
    ours,
    // Only the last merge, which git records: of what came before, nobody has the claims.
    others: hasClaims ? others : others.map((other) => withoutClaims(other, others.at(-1))),
    hasAttributes: flip(),
    isIntoMain: flip(),
    // Without claims nobody can tell ktx's former texts from a person's.
    movesOn: flip() && hasClaims,
  };
}

function endIngested(changes: readonly Change[]): Change[] {
  return changes.map((change, index) =>
    index === changes.length - 1 ? { kind: change.kind, at: change.at, isIngested: true } : change,
  );
}

function withoutClaims(other: Incoming, last: Incoming | undefined): Incoming {
  return other === last
    ? { ...other, how: 'merge', resolution: 'no claims', isReverted: false }
    : { ...other, resolution: 'ours', isIngested: true };
}

/** A history as it was printed, whole or with steps taken out by hand. */
export function parseHistory(json: string): History {
  return historySchema.parse(JSON.parse(json));
}
