import { z } from 'zod';
import { valuesOfConflicts } from './answers/values-of-conflicts.ts';
import type { ReviewQueue } from '../project/review/review-queue.ts';
import type { Project } from '../project/open/open.ts';
import type { ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({});
const maxListed = 5;

export const reviewStatus: ToolDefinition<typeof inputSchema> = {
  name: 'review_status',
  description:
    'Lists what waits for the user: contested, doubtful, left out, stale, pending; and the way out.',
  effect: 'context',
  inputSchema,
  itemsName: 'text',
  isShort: true,
  async run(_, { project }) {
    const { suggestedBackend } = await import('../llm/backends.ts');
    const { contested, joins, unreviewed, quarantined, stale, unfit, pending } =
      await loadQueue(project);
    const counts = {
      contested: contested.length,
      joins_in_doubt: joins.length,
      unreviewed: unreviewed.length,
      left_out: quarantined.length,
      stale: stale.length,
      pending: pending.length,
      no_place: unfit.length,
    };
    const { no_place: _unused, ...waiting } = counts;
    const waits = Object.values(waiting).reduce((sum, count) => sum + count, 0);
    const items = [
      counts,
      ...contested.slice(0, maxListed).map(({ subject, kind, variants }) => ({
        contested: subject,
        kind,
        versions: variants.map(({ id, says, evidence, number }) => ({
          id,
          says,
          evidence: evidence.slice(0, 2),
          gives: number?.value,
        })),
        resolve: `The user decides: ktx review choose ${JSON.stringify(subject)} <id>`,
      })),
      ...joins.slice(0, maxListed).map(({ subject, id, to, why }) => ({
        join_in_doubt: subject,
        to,
        why,
        resolve: `The user decides: ktx review accept ${id}, or ktx review reject ${id}`,
      })),
      ...unreviewed.slice(0, maxListed).map(({ subject, id, says }) => ({
        unreviewed: subject,
        says,
        resolve: `The user decides: ktx review accept ${id}, or ktx review reject ${id}`,
      })),
      ...quarantined.slice(0, maxListed).map(({ subject, reason, location }) => {
        return {
          left_out: subject,
          reason,
          resolve: `Correct ${location ?? 'the source'}, then run ktx ingest.`,
        };
      }),
      ...stale.slice(0, maxListed).map(({ subject, why }) => ({
        stale: subject,
        why,
        resolve: 'ktx ingest, with a model configured',
      })),
      ...pending.slice(0, maxListed).map((path) => {
        return {
          pending: path,
          resolve: `ktx ingest with a model: ktx setup --llm-backend ${suggestedBackend}`,
        };
      }),
    ];
    const summary =
      waits === 0 ? 'Nothing waits.' : 'Some things wait for the user or for a model.';
    return {
      summary,
      trust: { status: 'curated' },
      items: items.map((item) => JSON.stringify(item)),
      values: (shown) => metricValues(contested, shown),
      withheld: items.map((item) => JSON.stringify(item, withoutNumber)),
    };
  },
};

/** Who comes through a server sees what its page shows them; who runs ktx sees all. */
async function loadQueue(project: Project): Promise<ReviewQueue> {
  const isCaller = project.role !== undefined || project.person !== undefined;
  return isCaller
    ? (await import('../project/visible/review-visible.ts')).loadVisibleQueue(project)
    : (await import('../project/review/review-queue.ts')).loadReviewQueue(project);
}

/** The numbers of contested metrics, by the lines that have them. */
function metricValues(contested: ReviewQueue['contested'], shown: readonly unknown[]) {
  const lineOf = (subject: string) => JSON.stringify({ contested: subject }).slice(0, -1);
  const isShown = (subject: string) =>
    shown.some((item) => typeof item === 'string' && item.startsWith(lineOf(subject)));
  return valuesOfConflicts(contested.filter(({ subject }) => isShown(subject)));
}

function withoutNumber(key: string, value: unknown): unknown {
  return key === 'gives' ? undefined : value;
}
