import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ProviderInteraction } from 'oidc-provider';
import { sha256 } from '../../lib/hash.ts';
import { errorMessage, UserError } from '../../lib/error.ts';
import type { AuthConfig, BrokerConfig, ServeConfig } from '../../project/open/serve-config.ts';
import type { SharedRecords } from '../../store/shared/shared-records.ts';
import { readBody } from '../http/exchange.ts';
import { roleOfGroups } from '../http/person-role.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import type { CompanyLogin } from './company-login.ts';
import { consentPage } from './consent-page.ts';
import { html, sendPage } from './pages.ts';
import { keepPageLogin } from './page-login.ts';
import type { People } from './people.ts';
import { keepStartedLogin, stateCookie, useStartedLogin } from './started-login.ts';

/** Bytes of a form of ktx. */
const largestForm = 4096;

export interface InteractionInput {
  readonly auth: AuthConfig;
  readonly broker: BrokerConfig;
  readonly rules: Pick<ServeConfig, 'roles' | 'default_role'>;
  readonly records: SharedRecords;
  readonly people: People;
  readonly company: CompanyLogin;
  readonly server: AuthorizationServer;
  readonly cookieKey: string;
  readonly report: (entry: object) => void;
}

/** A login that cannot go on, as the person and the log read it. */
class LoginRefused extends Error {
  readonly status: number;
  readonly code: string;
  /** For the log alone. */
  readonly reason: string | undefined;

  constructor(
    status: number,
    code: string,
    text: { readonly page: string; readonly log?: string },
  ) {
    super(text.page);
    this.status = status;
    this.code = code;
    this.reason = text.log;
  }
}

/** What happens in the browser of a person: the login at the provider, and the question. */
export function openInteractions(input: InteractionInput) {
  const answers: Readonly<Record<string, typeof beginOrAsk>> = {
    'GET interaction': beginOrAsk,
    'POST interaction': decide,
    'GET callback': finishLogin,
  };
  return {
    /** Undefined if there is no such page. */
    find(method: string, path: string) {
      const [, name = ''] = /^\/oauth\/(interaction(?=\/[\w-]+$)|callback$)/.exec(path) ?? [];
      const answer = answers[`${method} ${name}`];
      if (answer === undefined) return undefined;
      return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
        try {
          await answer({ ...input, request, response });
        } catch (error) {
          refuse(input, response, error);
        }
      };
    },
  };
}

interface InteractionRequest extends InteractionInput {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function beginOrAsk(asked: InteractionRequest): Promise<void> {
  const details = await detailsOf(asked);
  if (details.prompt.name === 'login') return beginLogin(asked, details);
  const client = await asked.server.Client.find(String(details.params['client_id']));
  const account = details.session?.accountId ?? '';
  const person = await asked.people.find(account);
  if (client === undefined || person === undefined) throw expired();
  sendPage(
    asked.response,
    200,
    consentPage({
      client,
      person,
      role: roleOfGroups(person.groups, asked.rules) ?? '',
      redirect: String(details.params['redirect_uri']),
      scopes: scopesOf(asked, details),
      resource: asked.auth.resource,
      proof: proofOf(asked.cookieKey, details.uid),
    }),
  );
}

/** Sends the browser to the provider, and keeps what its answer has to fit. */
async function beginLogin(
  { company, records, response, auth }: InteractionRequest,
  { uid }: ProviderInteraction,
): Promise<void> {
  const { url, ...started } = await company.begin();
  response.setHeader('set-cookie', await keepStartedLogin(records, auth, { ...started, uid }));
  redirect(response, url);
}

/** The provider sent the browser back. */
async function finishLogin(asked: InteractionRequest): Promise<void> {
  const { request, response, records, people, rules, broker, auth } = asked;
  const query = /\?.*$/.exec(request.url ?? '')?.[0] ?? '';
  const state = new URLSearchParams(query).get('state') ?? '';
  const found = await useStartedLogin(records, request, state);
  if (found === undefined) throw expired();
  const claims = await asked.company.finish(query, found).catch((error: unknown) => {
    if (error instanceof UserError) throw error;
    const page = 'The login at the company’s provider did not succeed.';
    throw new LoginRefused(403, 'login_failed', { page, log: errorMessage(error) });
  });
  const person = people.read(claims);
  if (roleOfGroups(person.groups, rules) === undefined) throw roleUnknown(person.groups);
  await people.keep(person, broker.session_hours);
  response.setHeader('set-cookie', stateCookie(state, auth.resource, 0));
  const { page, uid } = found;
  if (page !== undefined) {
    await keepPageLogin(records, page, person.account);
    // Always the page of this server: nothing that a browser sent says where to go.
    return redirect(response, `${new URL(auth.resource).origin}/#login`);
  }
  const login = await resultOf(asked, uid ?? '', {
    login: { accountId: person.account, remember: false },
  });
  redirect(response, login);
}

/** The person agreed, or did not. */
async function decide(asked: InteractionRequest): Promise<void> {
  const { request, response, server, cookieKey, people, report } = asked;
  const details = await detailsOf(asked);
  const account = details.session?.accountId;
  if (details.prompt.name !== 'consent' || account === undefined) throw expired();
  const body = (await readBody(request, largestForm))?.toString() ?? '';
  const form = new URLSearchParams(body);
  if (!isSame(form.get('proof') ?? '', proofOf(cookieKey, details.uid)))
    throw new LoginRefused(403, 'consent_forged', { page: 'This answer is not from our page.' });
  const clientId = String(details.params['client_id']);
  const person = (await people.find(account))?.name;
  if (form.get('answer') !== 'allow') {
    report({ refused: 'access_denied', person, client: clientId });
    const denied = { error: 'access_denied', error_description: 'the person did not agree' };
    return redirect(response, await server.interactionResult(request, response, denied));
  }
  const grant = new server.Grant({ accountId: account, clientId });
  for (const scope of details.prompt.details.missingOIDCScope ?? []) grant.addOIDCScope(scope);
  grant.addResourceScope(asked.auth.resource, scopesOf(asked, details).join(' '));
  const consent = { grantId: await grant.save() };
  const next = await server.interactionResult(request, response, { consent });
  report({ login: 'allowed', person, client: clientId });
  redirect(response, next);
}

/** Only in the browser that began: its cookie names the interaction. */
async function detailsOf({ server, request, response }: InteractionRequest) {
  const [path = ''] = (request.url ?? '').split('?');
  const details = await server.interactionDetails(request, response).catch(() => undefined);
  if (details === undefined || !path.endsWith(`/${details.uid}`)) throw expired();
  return details;
}

/** Keeps the result of an interaction whose own cookie is not sent to this path. */
async function resultOf(
  { server }: InteractionRequest,
  uid: string,
  result: object,
): Promise<string> {
  const interaction = await server.Interaction.find(uid);
  if (interaction === undefined) throw expired();
  interaction.result = result;
  await interaction.persist();
  return interaction.returnTo;
}

/** The scopes that the client asks for, as far as there are such. */
function scopesOf({ auth }: InteractionRequest, { prompt }: ProviderInteraction) {
  return prompt.details.missingResourceScopes?.[auth.resource] ?? [];
}

function proofOf(cookieKey: string, uid: string): string {
  return createHmac('sha256', cookieKey).update(`consent ${uid}`).digest('base64url');
}

function isSame(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(left)), Buffer.from(sha256(right)));
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, {
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-length': '0',
  });
  response.end();
}

function expired(): LoginRefused {
  return new LoginRefused(400, 'login_expired', {
    page: 'This login has expired, or began in another browser.',
  });
}

function roleUnknown(groups: readonly string[]): LoginRefused {
  const seen = groups.length === 0 ? 'the provider names none' : groups.slice(0, 20).join(', ');
  return new LoginRefused(403, 'role_unknown', {
    page: `No role here belongs to your groups (${seen}). Ask the person who runs the server: serve.roles in ktx.yaml.`,
  });
}

function refuse(
  { report }: Pick<InteractionInput, 'report'>,
  response: ServerResponse,
  error: unknown,
): void {
  const refused = asRefusal(error);
  const from = response.req.socket.remoteAddress;
  report({ refused: refused.code, reason: refused.reason, from });
  sendPage(response, refused.status, {
    title: 'This login cannot go on',
    body: html`<p>${refused.message} <code>${refused.code}</code></p>
      <p>Close this page, and begin again where you came from.</p>`,
  });
}

function asRefusal(error: unknown): LoginRefused {
  if (error instanceof LoginRefused) return error;
  if (!(error instanceof UserError)) throw error;
  const page = 'The login cannot be checked at the moment. Try again later.';
  return new LoginRefused(503, error.code, { page, log: error.message });
}
