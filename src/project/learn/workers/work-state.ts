import { UserError } from '../../../lib/error.ts';
import { shortHash } from '../../../lib/hash.ts';
import { canonicalJson } from '../../../lib/json.ts';
import { readVersion } from '../../../lib/version.ts';
import { readingVersion } from '../../../ingest/fetch/item-files.ts';
import { type JobQueue, openJobQueue } from '../../../store/shared/job-queue.ts';
import { patiently, withPatience } from '../../../store/shared/patiently.ts';
import { openSharedState, type SharedState } from '../../../store/shared/shared-state.ts';
import type { Project } from '../../open/open.ts';

/** What an ingest and its workers share. */
export interface WorkState extends AsyncDisposable {
  readonly shared: SharedState;
  readonly queue: JobQueue;
  /** The queue of this project's units, for workers that read them as this process would. */
  readonly queueName: string;
}

interface WorkStateOptions {
  /** Ends the waits for a database that is away. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Opens it. Throws `work_state_missing`, and `trust_required` for an unapproved database. */
export async function openWorkState(
  { config, trust }: Pick<Project, 'config' | 'trust'>,
  { signal, onError }: WorkStateOptions,
): Promise<WorkState> {
  const { state } = config.serve;
  if (state === undefined)
    throw new UserError('work_state_missing', 'Workers need a database that they share.', {
      hint: 'Set serve.state in ktx.yaml to the URL of a Postgres database: state: env:KTX_STATE_URL',
      exitCode: 2,
    });
  const url = (await trust.requireServe())(state);
  const open = () => openSharedState({ kind: 'postgres', url });
  const shared = await patiently(open, signal);
  const queue = await openJobQueue(url, { signal, onError }).catch(async (error: unknown) => {
    await shared.close();
    throw error;
  });
  return {
    shared: {
      ...shared,
      results: withPatience(shared.results, signal),
      counters: withPatience(shared.counters, signal),
    },
    queue,
    queueName: queueName(config),
    async [Symbol.asyncDispose](): Promise<void> {
      await queue.close();
      await shared.close();
    },
  };
}

/** Another version of ktx, and other models, would read other things. */
function queueName({ llm, ingest }: Project['config']): string {
  const { provider, models } = llm;
  const parts = [readVersion(), readingVersion, provider.backend, models, ingest.steps_per_unit];
  return `read-${shortHash(canonicalJson(parts), 16)}`;
}
