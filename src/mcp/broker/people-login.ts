import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import type { Project } from '../../project/open/open.ts';
import { requireOwnFolder } from '../../project/trust/own-folder.ts';
import { openSharedState, type StatePlace } from '../../store/shared/shared-state.ts';
import { openOidc } from '../http/oidc.ts';
import type { TokenStore } from '../http/tokens.ts';
import { type BrokerInput, openBroker } from './open-broker.ts';
import { openPeople } from './people.ts';
import { listSignedIn, type SignedIn } from './record-adapter.ts';

export interface PeopleLoginOptions {
  readonly tokens: TokenStore;
  readonly oidc?: Parameters<typeof openOidc>[2];
  readonly network?: BrokerInput['network'];
  readonly report: (entry: object) => void;
}

/**
 * How people log in at the company, as `serve.auth` says: by tokens of its provider, or by those
 * that ktx gives them after a login there. Throws `trust_required` unless a person of this machine
 * approved it.
 */
export async function openPeopleLogin(project: Project, options: PeopleLoginOptions) {
  const { auth, state, ...rules } = project.config.serve;
  const nothing = async () => undefined;
  if (auth === undefined) return { provider: undefined, broker: undefined, [dispose]: nothing };
  const readSecret = await project.trust.requireServe();
  if (auth.broker === undefined) {
    const provider = { auth, oidc: openOidc(auth, rules, options.oidc) };
    return { provider, broker: undefined, [dispose]: nothing };
  }
  const shared = await openSharedState(placeOf(options.tokens, state && readSecret(state)));
  try {
    const { client_secret: secret } = auth.broker;
    const broker = await openBroker({
      ...options,
      auth,
      rules,
      broker: auth.broker,
      records: shared.records,
      clientSecret: secret === undefined ? undefined : readSecret(secret),
    });
    const provider = { auth, oidc: broker.login };
    return { provider, broker, [dispose]: () => shared.close() };
  } catch (error) {
    await shared.close();
    throw error;
  }
}

const dispose: typeof Symbol.asyncDispose = Symbol.asyncDispose;

/**
 * In the database of that URL, or beside the tokens: in a folder of the person who runs the server,
 * outside of the project.
 */
function placeOf({ folder }: TokenStore, url: string | undefined): StatePlace {
  if (url !== undefined) return { kind: 'postgres', url };
  requireOwnFolder(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { kind: 'file', path: join(folder, 'logins.db') };
}

/** A login at the broker, as a list of them shows it. */
export interface ListedLogin extends Omit<SignedIn, 'end'> {
  readonly person: string;
}

/** Who has tokens of the broker; those of `end` lose them. A running server knows at once. */
export async function listLogins(
  project: Project,
  tokens: TokenStore,
  end: (login: ListedLogin) => boolean = () => false,
): Promise<readonly (ListedLogin & { readonly ended: boolean })[]> {
  const { auth, state } = project.config.serve;
  if (auth?.broker === undefined) throw noBroker();
  const readSecret = await project.trust.requireServe();
  const shared = await openSharedState(placeOf(tokens, state && readSecret(state)));
  try {
    const people = openPeople(shared.records, auth);
    const logins = [];
    for (const { end: remove, ...login } of await listSignedIn(shared.records)) {
      const person = (await people.find(login.account))?.name ?? login.account;
      const ended = end({ ...login, person });
      if (ended) await remove();
      logins.push({ ...login, person, ended });
    }
    return logins;
  } finally {
    await shared.close();
  }
}

function noBroker(): UserError {
  return new UserError('no_broker', 'This project lets nobody log in at ktx itself.', {
    hint: 'serve.auth in ktx.yaml needs mode: broker. Tokens of ktx: ktx mcp token list.',
    exitCode: 2,
  });
}
