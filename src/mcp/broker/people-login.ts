import { UserError } from '../../lib/error.ts';
import type { Project } from '../../project/open/open.ts';
import { openOidc } from '../http/oidc.ts';
import type { ServeState } from '../shared/serve-state.ts';
import { type BrokerInput, openBroker } from './open-broker.ts';
import { openPeople } from './people.ts';
import { listSignedIn, type SignedIn } from './record-adapter.ts';

export interface PeopleLoginOptions {
  readonly state: Pick<ServeState, 'records' | 'secretKey'>;
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
  const { auth, ...rules } = project.config.serve;
  if (auth === undefined) return { provider: undefined, broker: undefined };
  const readSecret = await project.trust.requireServe();
  if (auth.broker === undefined)
    return { provider: { auth, oidc: openOidc(auth, rules, options.oidc) }, broker: undefined };
  const { client_secret: secret } = auth.broker;
  const broker = await openBroker({
    ...options,
    auth,
    rules,
    broker: auth.broker,
    records: await options.state.records(),
    secretKey: await options.state.secretKey(),
    clientSecret: secret === undefined ? undefined : readSecret(secret),
  });
  return { provider: { auth, oidc: broker.login }, broker };
}

/** A login at the broker, as a list of them shows it. */
export interface ListedLogin extends Omit<SignedIn, 'end'> {
  readonly person: string;
}

/** Who has tokens of the broker; those of `end` lose them. A running server knows at once. */
export async function listLogins(
  project: Project,
  state: Pick<ServeState, 'records'>,
  end: (login: ListedLogin) => boolean = () => false,
): Promise<readonly (ListedLogin & { readonly ended: boolean })[]> {
  const { auth } = project.config.serve;
  if (auth?.broker === undefined) throw noBroker();
  const records = await state.records();
  const people = openPeople(records, auth);
  const logins = [];
  for (const { end: remove, ...login } of await listSignedIn(records)) {
    const person = (await people.find(login.account))?.name ?? login.account;
    const ended = end({ ...login, person });
    if (ended) await remove();
    logins.push({ ...login, person, ended });
  }
  return logins;
}

function noBroker(): UserError {
  return new UserError('no_broker', 'This project lets nobody log in at ktx itself.', {
    hint: 'serve.auth in ktx.yaml needs mode: broker. Tokens of ktx: ktx mcp token list.',
    exitCode: 2,
  });
}
