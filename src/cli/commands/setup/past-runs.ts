import { formatCount } from '../../../lib/format-count.ts';
import type { Project } from '../../../project/open/open.ts';
import type { CommandResult } from '../../command.ts';

/** Something that ktx did, and what it cost. */
interface PastRun {
  readonly kind: 'ingest' | 'eval' | 'conversation';
  /** As `ktx eval report` and `ktx chat --resume` take it. */
  readonly id: string;
  /** ISO time. */
  readonly at: string;
  /** What came of it, in words. */
  readonly result: string;
  /** US dollars; null if some of it is unknown. */
  readonly costUsd: number | null;
}

const most = 10;

/** The result of `ktx status --runs`: ingests, evals and conversations, newest first. */
export async function pastRunsResult(project: Project): Promise<CommandResult> {
  const runs = await listPastRuns(project);
  if (runs.length === 0)
    return {
      data: { runs },
      text: 'Nothing was ingested, asked or evaluated yet.',
      next: [['ktx ingest', 'reads the warehouses and sources']],
    };
  const columns = ['when', 'what', 'id', 'result'].map((name) => ({ name, type: 'string' }));
  return {
    data: { runs },
    table: {
      columns: [...columns, { name: 'USD', type: 'number' }],
      rows: runs.map(({ at, kind, id, result, costUsd }) => [
        `${at.slice(0, 16).replace('T', ' ')} UTC`,
        kind,
        id,
        result,
        costUsd === null ? 'unknown' : costUsd.toFixed(4),
      ]),
    },
    next: [['ktx status --usage', 'all model calls, by model']],
  };
}

async function listPastRuns(project: Project): Promise<readonly PastRun[]> {
  const [{ listPastIngests }, { listEvalCosts }, { listConversationCosts }] = await Promise.all([
    import('../../../project/learn/past-ingests.ts'),
    import('../../../eval/report/run-list.ts'),
    import('../../../chat/past-conversations.ts'),
  ]);
  const [ingests, evals, conversations] = await Promise.all([
    listPastIngests(project, most),
    listEvalCosts(project.dir, most),
    listConversationCosts(project.dir, most),
  ]);
  const runs: readonly PastRun[] = [
    ...ingests.map(({ run: id, at, commit, updated, costUsd }) => {
      const result = commit === undefined ? 'nothing committed' : `updated ${updated ?? ''}`;
      return { kind: 'ingest' as const, id, at, result, costUsd };
    }),
    ...evals.map(({ id, at, right, cases, costUsd }) => {
      const result = `${right} of ${formatCount(cases, 'case')} right`;
      return { kind: 'eval' as const, id, at, result, costUsd };
    }),
    ...conversations.map(({ id, at, agent, turns, costUsd }) => {
      const result = `${formatCount(turns, 'question')} to ${agent}`;
      return { kind: 'conversation' as const, id, at, result, costUsd };
    }),
  ];
  return runs.toSorted((a, b) => (a.at > b.at ? -1 : 1)).slice(0, most);
}
