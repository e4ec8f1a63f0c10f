import { z } from 'zod';
import type { LinkFinding } from '../../context/catalog/catalog.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { SentValues } from '../../llm/egress/sent-values.ts';
import { readPrompt } from '../../llm/prompt.ts';
import { tableKey } from '../../sql/dialect.ts';
import type { TableFacts } from '../facts/table-facts.ts';
import type { ScanContext } from '../scan-context.ts';
import type { ScanModel } from './scan-model.ts';

/**
 * The extractor of links that a model decided. Raise it when the prompt or the form of the answer
 * changes.
 */
export const linkJudge = 'link-judge@1';

export const linkVerdictSchema = z.object({ joins: z.boolean(), reason: z.string() });
export type LinkVerdict = z.infer<typeof linkVerdictSchema>;

const columnNames = z.array(z.string()).min(1);
export const linkProposalsSchema = z.array(
  z.object({
    from_table: z.string(),
    from_columns: columnNames,
    to_table: z.string(),
    to_columns: columnNames,
  }),
);
export type LinkProposal = z.infer<typeof linkProposalsSchema>[number];

const judgeAnswerSchema = z.object({
  verdicts: z.array(linkVerdictSchema.extend({ id: z.int().describe('Of the candidate.') })),
  proposals: linkProposalsSchema,
});

/** How many other tables the model is told of, for proposals. */
const maxOtherTables = 300;

/** Asks the model about links; the `id` of a verdict is the position of the link, from 1. */
export function askLinkJudge(
  links: readonly LinkFinding[],
  tables: readonly TableFacts[],
  { model, warehouse, signal }: ScanContext & { readonly model: ScanModel },
) {
  const input = judgeInput(links, tables);
  return model.runtime.generateObject({
    role: 'candidateExtraction',
    stage: 'links',
    values: measurementsIn(input, warehouse.connection),
    system: readPrompt('judge-links'),
    prompt: `The candidates to judge:\n${untrustedBlock('warehouse', JSON.stringify(input, null, 1))}`,
    schema: judgeAnswerSchema,
    signal,
  });
}

function judgeInput(links: readonly LinkFinding[], tables: readonly TableFacts[]) {
  const linkedKeys = new Set(
    links.flatMap(({ from, to }) => [tableKey(from.table), tableKey(to.table)]),
  );
  const isLinked = ({ ref }: TableFacts): boolean => linkedKeys.has(tableKey(ref));
  const end = ({ table, columns }: LinkFinding['from']) => ({
    table: qualifiedName(table),
    columns,
  });
  return {
    tables: tables.filter(isLinked).map(({ ref, columns }) => ({
      table: qualifiedName(ref),
      columns: columns.map(({ name, schema }) => `${name} ${schema.nativeType}`),
    })),
    other_tables: tables
      .filter((table) => !isLinked(table))
      .slice(0, maxOtherTables)
      .map(({ ref }) => qualifiedName(ref)),
    candidates: links.map(({ from, to, probability, evidence }, index) => ({
      id: index + 1,
      from: end(from),
      to: end(to),
      probability,
      evidence,
    })),
  };
}

/** What was measured of each candidate, by the first of its columns. */
function measurementsIn(
  { candidates }: ReturnType<typeof judgeInput>,
  connection: string,
): SentValues[] {
  return candidates.map(({ from, evidence }) => ({
    connection,
    source: from.table,
    column: from.columns[0] ?? '',
    kind: 'aggregate',
    count: Object.values(evidence).filter((measured) => typeof measured === 'number').length,
  }));
}

/** The name under which the model knows a table. */
export const qualifiedName = ({
  schema,
  table,
}: {
  readonly schema: string;
  readonly table: string;
}): string => `${schema}.${table}`;
