import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { endIngests, handOverIngests } from '../../project/learn/ingest-runs.ts';
import { readFileStamp } from '../../project/open/file-cache.ts';
import type { Project } from '../../project/open/open.ts';
import type { CallersInput, HttpCaller, openCallers } from './callers.ts';
import type { Identity } from './identity.ts';

/** A project with its callers, as long as a call of theirs runs. */
interface CallerGeneration {
  readonly project: Project;
  readonly callers: ReturnType<typeof openCallers>;
  running: number;
}

/** What `/ready` says of the configuration. */
export type ConfigurationState =
  | { readonly configuration: 'current' }
  | { readonly configuration: 'kept'; readonly reason: string };

interface ReloadInput {
  readonly openCallers: (
    project: Project,
    latest: CallersInput['latest'],
  ) => CallerGeneration['callers'];
  /** Opens the project again; undefined if the configuration never changes. */
  readonly reopen: (() => Promise<Project>) | undefined;
  readonly report: (entry: object) => void;
}

/** A caller that a request uses until it is disposed. */
export interface TakenCaller extends Disposable {
  readonly caller: HttpCaller;
}

export type ReloadingCallers = ReturnType<typeof openReloading>;

/**
 * The callers of the project as `ktx.yaml` is now. Calls that run end with the project that they
 * began with. Datasets are no matter of this: every call reads those that have changed.
 */
export function openReloading(first: Project, { openCallers: open, reopen, report }: ReloadInput) {
  const latest: CallersInput['latest'] = (identity) => current.callers.callerOf(identity).caller;
  const begin = (project: Project): CallerGeneration => ({
    project,
    callers: open(project, latest),
    running: 0,
  });
  let current = begin(first);
  let state: ConfigurationState = { configuration: 'current' };
  let seen = stampOf(first);
  const retirement = openRetirement(first, { report, successor: () => current.project });
  let closing: Promise<void> | undefined;

  const keep = (reason: string): void => {
    const isNews = state.configuration === 'current' || state.reason !== reason;
    if (isNews) report({ configuration: 'kept', reason });
    state = { configuration: 'kept', reason };
  };
  const reload = async (reopenProject: () => Promise<Project>): Promise<void> => {
    const next = await reopenProject().catch(userErrorOf);
    if (next instanceof UserError) return keep(`ktx.yaml cannot be used (${next.code}).`);
    const reason = await whyNot(current.project, next);
    if (reason !== undefined) {
      await next.close();
      return keep(reason);
    }
    const last = current;
    current = begin(next);
    state = { configuration: 'current' };
    report({ configuration: 'read' });
    retirement.begin(last);
  };

  return {
    /** The caller of a request. */
    take: (identity: Identity | undefined): TakenCaller =>
      takeFrom(current, { identity, onEnd: retirement.endIfIdle }),
    state: (): ConfigurationState => state,
    /** Reads the configuration again if its file has changed, or waits for an approval. */
    async refresh(): Promise<void> {
      const stamp = stampOf(first);
      if (reopen === undefined || (stamp === seen && state.configuration === 'current')) return;
      seen = stamp;
      await reload(reopen).catch((error: unknown) => {
        report({ error: inspect(error) });
        keep('ktx.yaml could not be read: .ktx/logs/http.jsonl says why.');
      });
    },
    /** Ends what still runs. */
    close: (): Promise<void> => (closing ??= closeAll()),
  };

  async function closeAll(): Promise<void> {
    for (const { callers, project } of [...retirement.waiting(), current]) {
      await callers.close();
      await endIngests(project);
      if (project !== first) await project.close();
    }
    await retirement.settled();
  }
}

interface TakeInput {
  readonly identity: Identity | undefined;
  readonly onEnd: (generation: CallerGeneration) => void;
}

function takeFrom(generation: CallerGeneration, { identity, onEnd }: TakeInput): TakenCaller {
  const caller = generation.callers.callerOf(identity);
  generation.running += 1;
  let isTaken = true;
  return {
    caller,
    [Symbol.dispose](): void {
      if (!isTaken) return;
      isTaken = false;
      generation.running -= 1;
      onEnd(generation);
    },
  };
}

interface RetirementInput extends Pick<ReloadInput, 'report'> {
  readonly successor: () => Project;
}

/** Ends generations once nothing of theirs runs. */
function openRetirement(first: Project, { report, successor }: RetirementInput) {
  const retiring = new Set<CallerGeneration>();
  const ending = new Set<Promise<void>>();
  const end = async ({ callers, project }: CallerGeneration): Promise<void> => {
    await callers.close();
    await handOverIngests(project, successor());
    // The first one belongs to whoever started the server.
    if (project !== first) await project.close();
  };
  const endIfIdle = (generation: CallerGeneration): void => {
    if (generation.running > 0 || !retiring.delete(generation)) return;
    const ended = end(generation).catch((error: unknown) => report({ error: inspect(error) }));
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  };
  return {
    endIfIdle,
    begin(generation: CallerGeneration): void {
      retiring.add(generation);
      endIfIdle(generation);
    },
    waiting: (): readonly CallerGeneration[] => [...retiring],
    settled: async (): Promise<void> => void (await Promise.all(ending)),
  };
}

/** Refreshes every so often until the signal aborts. */
export async function keepRefreshing(
  callers: Pick<ReloadingCallers, 'refresh'>,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  const wait = () => sleep(everyMs, true, { signal, ref: false }).catch(() => false);
  while (await wait()) await callers.refresh();
}

function userErrorOf(error: unknown): UserError {
  if (error instanceof UserError) return error;
  throw error;
}

function stampOf({ dir }: Project): string | undefined {
  return readFileStamp(dir, 'ktx.yaml')?.stamp;
}

/** Why the new configuration cannot take the place of the old one. */
async function whyNot(current: Project, next: Project): Promise<string | undefined> {
  const { auth, state, roles, default_role: defaultRole, changes } = next.config.serve;
  const { serve } = current.config;
  const isSame =
    canonicalJson({ auth, state, roles, defaultRole, changes }) ===
    canonicalJson({
      auth: serve.auth,
      state: serve.state,
      roles: serve.roles,
      defaultRole: serve.default_role,
      changes: serve.changes,
    });
  if (!isSame) return 'serve.auth, roles or changes are others: start the server again.';
  const isTrusted = (await unapproved(next)).isSubsetOf(await unapproved(current));
  return isTrusted
    ? undefined
    : 'ktx.yaml has what nobody on this machine has approved: ktx trust.';
}

/** What a person has not approved; of the connections, also what no hash approves. */
async function unapproved({ trust, warehouses }: Project): Promise<Set<string>> {
  const { grants } = await trust.report();
  const ids = grants.filter(({ isApproved }) => !isApproved).map(({ id }) => id);
  const names: string[] = [];
  for (const name of warehouses) if (!(await trust.isConnectionApproved(name))) names.push(name);
  return new Set([...ids, ...names.map((name) => `connection ${name}`)]);
}
