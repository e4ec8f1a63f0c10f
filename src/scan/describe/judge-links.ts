import { z } from 'zod';
import type { LinkFinding } from '../../context/catalog/catalog.ts';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { LlmError } from '../../llm/port/error.ts';
import { readPrompt } from '../../llm/prompt.ts';
import { tableKey } from '../../sql/dialect.ts';
import { linkJudge } from '../scan-claims.ts';
import { inferredLink } from '../links/composite-links.ts';
import type { ScanModel } from './descriptions.ts';
import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import {
  containmentQuery,
  measureAll,
  uniquenessQuery,
  type ColumnPairing,
} from '../facts/measure.ts';
import type { ScanContext } from '../profile/profile-table.ts';

export interface Judgements {
  readonly links: readonly LinkFinding[];
  /** Links of the uncertain band, and those of them with a verdict. */
  readonly total: number;
  readonly done: number;
  readonly calls: number;
  readonly failure?: UserError | undefined;
}

const perCall = 40;
/** Proposals of one answer that are looked at: each is measured. */
const mostProposed = 100;
/** Exactly measured containment from which a proposal counts. */
const leastProposed = 0.98;
/** Exactly measured containment from which a yes to a candidate counts. */
const leastJudged = 0.9;

interface JudgeContext extends ScanContext {
  /** Undefined where none is configured: then what was decided stays, and nothing is asked. */
  readonly model: ScanModel | undefined;
  /** The links that a model accepted in earlier runs, as git has them. */
  readonly decided: readonly Pick<LinkFinding, 'from' | 'to'>[];
}

/** A model judges the links that measurements leave in doubt, each once, and may propose others; what it proposes is measured first. */
export async function judgeLinks(
  links: readonly LinkFinding[],
  facts: () => readonly TableFacts[],
  context: JudgeContext,
): Promise<Judgements> {
  const { model, decided: earlier } = context;
  const paid = (key: string): unknown => model?.journal.result(key);
  const accepted = new Set(earlier.map(endsOf));
  const band = links
    .filter(isOpen)
    .map((link) => ({ link, key: keyOf(link, context.warehouse.connection) }));
  const known = new Map(
    band.map(({ link, key }) => {
      const verdict = verdictSchema.safeParse(paid(key)).data;
      // Git goes before this machine's journal: else two people whose models disagree would undo each other's joins for ever.
      return [link, accepted.has(endsOf(link)) && verdict?.joins !== true ? asBefore : verdict];
    }),
  );
  const open = model === undefined ? [] : band.filter(({ link }) => known.get(link) === undefined);
  const proposalsKey = `${linkJudge} proposals ${context.warehouse.connection}`;
  const seen = new Set(links.filter(({ status }) => status !== 'rejected').map(endsOf));
  const unseen = earlier.filter((link) => !seen.has(endsOf(link)));
  let proposals = [
    ...unseen.map(proposalOf),
    ...(proposalsSchema.safeParse(paid(proposalsKey)).data ?? []),
  ];
  let calls = 0;
  let failure: UserError | undefined;
  for (let start = 0; start < open.length && failure === undefined; start += perCall) {
    if (model === undefined) break;
    const batch = open.slice(start, start + perCall);
    try {
      calls += 1;
      const answer = await ask(
        batch.map(({ link }) => link),
        facts(),
        { ...context, model },
      );
      const verdicts = batch.flatMap(({ link, key }, index) => {
        const [verdict] = answer.verdicts
          .filter(({ id }) => id === index + 1)
          .map(({ joins, reason }) => ({ joins, reason }));
        return verdict === undefined ? [] : [{ link, key, verdict }];
      });
      const proposed = answer.proposals.slice(0, mostProposed);
      proposals = [
        ...new Map([...proposals, ...proposed].map((one) => [canonicalJson(one), one])).values(),
      ];
      for (const { link, verdict } of verdicts) known.set(link, verdict);
      if (verdicts.length < batch.length) failure = unanswered;
      // Paid for: it counts, also where the journal does not take it; then nothing more is asked.
      for (const { key, verdict } of verdicts) model.journal.keep(key, verdict);
      if (proposed.length > 0) model.journal.keep(proposalsKey, proposals);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      context.signal.throwIfAborted();
      failure = error;
    }
  }
  const judged = links.map((link) => decided(link, known.get(link)));
  // What was judged stays as it was judged, and from columns that refer to something no further link leads.
  const settled = new Set(
    judged.flatMap((link) => (link.origin === 'judged' ? [endsOf(link)] : [])),
  );
  const taken = new Set(
    judged.flatMap(({ status, from }) => (status === 'accepted' ? [endOf(from)] : [])),
  );
  const added = (await confirmed(proposals, facts, context)).filter((link) => {
    const isNew = !settled.has(endsOf(link)) && !taken.has(endOf(link.from));
    if (isNew) taken.add(endOf(link.from));
    return isNew;
  });
  const done = [...known.values()].filter((verdict) => verdict !== undefined).length;
  return { links: [...judged, ...added], total: band.length, done, calls, failure };
}

type Ends = Pick<LinkFinding, 'from' | 'to'>;
const endOf = ({ table, columns }: Ends['from']): string =>
  canonicalJson([tableKey(table), [...columns]]);
const endsOf = ({ from, to }: Ends): string => endOf(from) + endOf(to);

const unanswered = new LlmError(
  'invalid_output',
  'The model left candidates for relationships without a verdict.',
);

const isOpen = ({ status, origin, evidence }: LinkFinding): boolean =>
  status === 'review' &&
  origin === 'inferred' &&
  !JSON.stringify(evidence['why'] ?? '').startsWith('"polymorphic');

/** Changes with the columns and with coarse steps of the evidence, so that a day's new rows ask nothing anew. */
function keyOf({ from, to, evidence }: LinkFinding, connection: string): string {
  const containment = Number(evidence['containment'] ?? 0);
  const step = containment >= 1 ? 'all' : containment >= leastJudged ? 'most' : 'some';
  return `${linkJudge} ${shortHash(canonicalJson([connection, from, to, evidence['measured'] ?? null, step]), 32)}`;
}

const verdictSchema = z.object({ joins: z.boolean(), reason: z.string() });
const asBefore = { joins: true, reason: 'in an earlier run' };
const columnNames = z.array(z.string()).min(1);
const proposalsSchema = z.array(
  z.object({
    from_table: z.string(),
    from_columns: columnNames,
    to_table: z.string(),
    to_columns: columnNames,
  }),
);
const answerSchema = z.object({
  verdicts: z.array(verdictSchema.extend({ id: z.int().describe('Of the candidate.') })),
  proposals: proposalsSchema,
});

function ask(
  batch: readonly LinkFinding[],
  tables: readonly TableFacts[],
  { model, signal }: ScanContext & { readonly model: ScanModel },
) {
  const end = ({ table, columns }: LinkFinding['from']) => ({ table: tableName(table), columns });
  const concerned = new Set(
    batch.flatMap(({ from, to }) => [tableKey(from.table), tableKey(to.table)]),
  );
  const picture = {
    tables: tables
      .filter(({ ref }) => concerned.has(tableKey(ref)))
      .map(({ ref, columns }) => ({
        table: tableName(ref),
        columns: columns.map(({ name, schema }) => `${name} ${schema.nativeType}`),
      })),
    other_tables: tables
      .filter(({ ref }) => !concerned.has(tableKey(ref)))
      .slice(0, 300)
      .map(({ ref }) => tableName(ref)),
    candidates: batch.map(({ from, to, probability, evidence }, index) => ({
      id: index + 1,
      from: end(from),
      to: end(to),
      probability,
      evidence,
    })),
  };
  return model.runtime.generateObject({
    role: 'candidateExtraction',
    system: readPrompt('judge-links'),
    prompt: `The candidates to judge:\n${untrustedBlock('warehouse', JSON.stringify(picture, null, 1))}`,
    schema: answerSchema,
    signal,
  });
}

const tableName = ({
  schema,
  table,
}: {
  readonly schema: string;
  readonly table: string;
}): string => `${schema}.${table}`;

/** A yes counts where the values do not speak against it; a no always does. */
function decided(
  link: LinkFinding,
  verdict: z.infer<typeof verdictSchema> | undefined,
): LinkFinding {
  if (verdict === undefined) return link;
  const { measured, containment, rows } = link.evidence;
  const isBorneOut = rows === 0 || (measured === true && Number(containment) >= leastJudged);
  const why = `a model says ${verdict.joins ? 'yes' : 'no'}: ${oneLine(verdict.reason)}`;
  const status = verdict.joins ? (isBorneOut ? 'accepted' : 'review') : 'rejected';
  return { ...link, origin: 'judged', status, evidence: { ...link.evidence, why } };
}

const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 200);

type Proposal = z.infer<typeof proposalsSchema>[number];

function proposalOf({ from, to }: Ends): Proposal {
  return {
    from_table: tableName(from.table),
    from_columns: [...from.columns],
    to_table: tableName(to.table),
    to_columns: [...to.columns],
  };
}

/** Those whose columns exist, whose target is a key, and whose values are contained; the others do not count. */
async function confirmed(
  proposals: readonly Proposal[],
  facts: () => readonly TableFacts[],
  context: ScanContext,
): Promise<LinkFinding[]> {
  if (proposals.length === 0) return [];
  const byName = new Map(facts().map((table) => [tableName(table.ref), table]));
  const pairs = proposals.flatMap((proposal): ColumnPairing[] => {
    const from = columnsOf(byName.get(proposal.from_table), proposal.from_columns);
    const to = columnsOf(byName.get(proposal.to_table), proposal.to_columns);
    const [first, ...rest] = from;
    const [key, ...others] = to;
    const isItself = from.every((column, index) => column === to[index]);
    return first && key && rest.length === others.length && !isItself
      ? [{ from: [first, ...rest], to: [key, ...others] }]
      : [];
  });
  const { dialect } = context.warehouse;
  const repeated = await measureAll(
    pairs.map(({ to }) => uniquenessQuery(to, dialect)),
    context,
  );
  // A join to what is no key would count rows more than once.
  const toKeys = pairs.filter((_, index) => (repeated[index]?.[0] ?? 2) <= 1);
  const measured = await measureAll(
    toKeys.map((pair) => containmentQuery(pair, dialect)),
    context,
  );
  return toKeys.flatMap((pair, index) => {
    const [rows = 0, matched = 0, distinct = 0, found = 0] = measured[index] ?? [];
    const containment = distinct === 0 ? 0 : found / distinct;
    if (containment < leastProposed) return [];
    const evidence = {
      measured: true,
      containment,
      orphans: rows - matched,
      rows,
      why: 'a model proposed it, the values bear it out',
    };
    return [
      {
        ...inferredLink(pair, { status: 'accepted', probability: 0.7, evidence }),
        origin: 'judged' as const,
      },
    ];
  });
}

/** All of the named columns, or none. */
function columnsOf(table: TableFacts | undefined, names: readonly string[]): ColumnFacts[] {
  const found = names.flatMap(
    (name) => table?.columns.filter((column) => column.name === name) ?? [],
  );
  return found.length === names.length ? found : [];
}
