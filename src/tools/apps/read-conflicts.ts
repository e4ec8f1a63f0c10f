import { z } from 'zod';
import { formatCount } from '../../lib/format-count.ts';
import type { ReviewedConflict } from '../../project/review/review.ts';
import { valuesOfConflicts } from '../answers/values-of-conflicts.ts';
import type { ToolContext, ToolDefinition } from '../tool.ts';

const inputSchema = z.strictObject({});

/** More than a person decides in a conversation; the page shows all. */
const mostConflicts = 20;

export const readConflictsTool: ToolDefinition<typeof inputSchema> = {
  name: 'read_conflicts',
  description:
    'The open conflicts with the lines behind each version, for the app that shows them.',
  effect: 'context',
  inputSchema,
  itemsName: 'hits',
  async run(_, context) {
    const { loadReviewQueue } = await import('../../project/review/review-queue.ts');
    const { contested } = await loadReviewQueue(context.project);
    const conflicts = contested.slice(0, mostConflicts);
    const items = await Promise.all(
      conflicts.map(async (conflict) => ({
        conflict,
        explanation: await explain(conflict, context),
      })),
    );
    return {
      summary: `${formatCount(contested.length, 'conflict')} open.`,
      trust: { status: 'curated' },
      items,
      details: { open: contested.length },
      truncated: contested.length > conflicts.length,
      values: (shown) => {
        const subjects = new Set(shown.map((item) => subjectOf(item)));
        return valuesOfConflicts(conflicts.filter(({ subject }) => subjects.has(subject)));
      },
    };
  },
};

async function explain({ subject }: ReviewedConflict, { project, signal }: ToolContext) {
  const { explainAnything } = await import('../../project/answer/explain.ts');
  const { findUses } = await import('../../project/graph/find-uses.ts');
  const found = await explainAnything(
    project,
    { subject, measure: false },
    { signal, onProgress: () => undefined },
  );
  const explanation = found.find((own) => own.subject === subject);
  return explanation && { ...explanation, uses: await findUses(project, subject) };
}

function subjectOf(item: unknown): string | undefined {
  const shown = z.object({ conflict: z.object({ subject: z.string() }) }).safeParse(item);
  return shown.data?.conflict.subject;
}
