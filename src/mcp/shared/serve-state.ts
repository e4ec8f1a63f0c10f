import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../../project/open/open.ts';
import { requireOwnFolder } from '../../project/trust/own-folder.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import type { SharedChain } from '../../store/shared/shared-chain.ts';
import type { SharedCounters } from '../../store/shared/shared-counters.ts';
import type { SharedRecords } from '../../store/shared/shared-records.ts';
import { openSharedState, type SharedState } from '../../store/shared/shared-state.ts';
import {
  openSharedTokens,
  openTokenFolder,
  openTokens,
  tokenFolder,
  type TokenStore,
} from '../http/tokens.ts';

/** What the servers of a project keep: in `serve.state`, or in a folder of whoever runs them. */
export interface ServeState extends AsyncDisposable {
  readonly tokens: TokenStore;
  /** Opened when it is needed. */
  readonly records: () => Promise<SharedRecords>;
  /** Encrypts the secrets among the records; resolves to undefined where none is configured. */
  readonly secretKey: () => Promise<string | undefined>;
  /** What all servers count together; undefined for those of one machine. */
  readonly counters: SharedCounters | undefined;
  /** The audit of all servers together; undefined where each machine has its own. */
  readonly chain: SharedChain | undefined;
}

/** Opens it. Throws `trust_required` for a database that no person of this machine approved. */
export async function openServeState(
  { dir, config, trust }: Pick<Project, 'dir' | 'config' | 'trust'>,
  env: HostEnvironment,
): Promise<ServeState> {
  const { state, state_key: named } = config.serve;
  const secretKey = async () => named && (await trust.requireServe())(named);
  const project = realpathSync.native(dir);
  if (state !== undefined) {
    const url = (await trust.requireServe())(state);
    const shared = await openSharedState({ kind: 'postgres', url });
    return {
      tokens: openTokens(openSharedTokens(shared.records), project),
      records: async () => shared.records,
      secretKey,
      counters: shared.counters,
      chain: shared.chain,
      [Symbol.asyncDispose]: () => shared.close(),
    };
  }
  const folder = tokenFolder(dir, env);
  let opening: Promise<SharedState> | undefined;
  return {
    tokens: openTokens(openTokenFolder(folder), project),
    secretKey,
    counters: undefined,
    chain: undefined,
    records: async () => (await (opening ??= openFile(folder))).records,
    [Symbol.asyncDispose]: async () => (await opening)?.close(),
  };
}

async function openFile(folder: string): Promise<SharedState> {
  requireOwnFolder(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return openSharedState({ kind: 'file', path: join(folder, 'logins.db') });
}
