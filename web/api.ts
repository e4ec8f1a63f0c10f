/** What a command prints with `--json`, or what the server says in its place. */
export interface Envelope<Data> {
  readonly ok: boolean;
  readonly data?: Data;
  readonly error?: ApiError;
}

export interface ApiError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** Where people of the company may log in, instead of with a token. */
  readonly company?: string;
}

export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

const keyName = 'ktx-page-key';

/** True for the pages of `ktx web --export`, whose data are files. */
export const isExport = document.documentElement.dataset['export'] !== undefined;

/**
 * Takes the token of a link out of the address, and lets this browser in with it; or with the login
 * at the company, from where it comes back.
 */
export async function enter(): Promise<ApiError | undefined> {
  const { hash } = location;
  const link = /^#token=([\w-]+)$/.exec(hash)?.[1];
  const proof = link === undefined ? hash === '#login' && { company: true } : { link };
  if (proof === false) return undefined;
  history.replaceState(undefined, '', location.pathname);
  return begin(proof);
}

/** Lets this browser in with the token of a person. */
export function logIn(token: string): Promise<ApiError | undefined> {
  return begin({ token });
}

/** Goes to the login of the company, which leads back here. */
export async function goToCompany(): Promise<ApiError | undefined> {
  const { data, error } = await send<{ url: string }>('session/company', {});
  if (data !== undefined) location.assign(data.url);
  return error;
}

async function begin(proof: object): Promise<ApiError | undefined> {
  const answer = await send<{ key: string }>('session', proof);
  if (answer.data === undefined) return answer.error;
  localStorage.setItem(keyName, answer.data.key);
  return undefined;
}

/** False before anybody has logged in with this browser. */
export function mayRead(): boolean {
  return isExport || pageKey() !== '';
}

let hearLogout = (): void => undefined;

/** Calls the listener when the server does not know the session any more. */
export function onLogout(listener: () => void): void {
  hearLogout = listener;
}

/** Ends the session of this browser. */
export async function logOut(): Promise<void> {
  await request('session', { method: 'DELETE' });
  localStorage.removeItem(keyName);
}

/** True in the frame of an MCP client, where there are no other pages. */
export const isApp = document.documentElement.dataset['app'] !== undefined;

type Read = (path: string, parameters: Parameters) => Promise<Envelope<unknown>>;
type Send = (path: string, input: object) => Promise<Envelope<unknown>>;

let ask: { readonly read: Read; readonly send: Send } = {
  read: readFromServer,
  send: sendToServer,
};

/** From now on somebody else than a server answers. */
export function readWith(other: Read): void {
  ask = { ...ask, read: other };
}

/** From now on somebody else than a server takes decisions. */
export function sendWith(other: Send): void {
  ask = { ...ask, send: other };
}

/** Data of the project. */
export async function read<Data>(
  path: string,
  parameters: Parameters = {},
): Promise<Envelope<Data>> {
  return (await ask.read(path, parameters)) as Envelope<Data>;
}

/** A decision, or a question that costs something. */
export async function send<Data>(path: string, input: object): Promise<Envelope<Data>> {
  return (await ask.send(path, input)) as Envelope<Data>;
}

function readFromServer<Data>(path: string, parameters: Parameters): Promise<Envelope<Data>> {
  const query = queryOf(parameters);
  if (isExport) return readFile(path, query);
  return request(`api/${path}${query === '' ? '' : `?${query}`}`, {});
}

function sendToServer<Data>(path: string, input: object): Promise<Envelope<Data>> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', body: JSON.stringify(input), headers };
  return request(path.startsWith('session') ? path : `api/${path}`, init);
}

/** The same for what takes long: each line as it arrives, the envelope last. */
export async function stream(
  path: string,
  input: object,
  onLine: (line: unknown) => void,
): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-ktx-page': pageKey() };
  const init = { method: 'POST', body: JSON.stringify(input), headers };
  const answer = await fetch(`api/${path}`, init).catch(() => undefined);
  if (answer?.headers.get('content-type') !== 'text/event-stream') {
    const text = (await answer?.text()) ?? JSON.stringify({ error: unreachable });
    return onLine(JSON.parse(text));
  }
  let rest = '';
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (rest + piece).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) onLine(JSON.parse(event.slice('data: '.length)));
  }
}

const unreachable = {
  code: 'unreachable',
  message: isExport
    ? 'This page was exported without it.'
    : 'ktx does not answer. Is it still running?',
};

function pageKey(): string {
  return localStorage.getItem(keyName) ?? '';
}

export function queryOf(parameters: Parameters): string {
  const pairs = Object.entries(parameters).flatMap(([key, value]) => {
    const values = value === undefined ? [] : typeof value === 'string' ? [value] : value;
    return values.map((text): [string, string] => [key, text]);
  });
  return new URLSearchParams(pairs).toString();
}

function readFile<Data>(path: string, query: string): Promise<Envelope<Data>> {
  return request(`data/${exportName(path, query)}.json`, {});
}

/** The file of an exported answer: letters that every host serves. */
function exportName(path: string, query: string): string {
  const plain = query === '' ? path : `${path}-${query}`;
  return plain.replaceAll(/[^\w.-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}`);
}

interface PageRequest {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function request<Data>(path: string, init: PageRequest): Promise<Envelope<Data>> {
  try {
    const headers = { ...init.headers, 'x-ktx-page': pageKey() };
    const answer = await fetch(path, { ...init, headers });
    const envelope = (await answer.json()) as Envelope<Data>;
    if (answer.status === 401 && !path.startsWith('session') && envelope.error?.code === 'login')
      hearLogout();
    return envelope;
  } catch {
    return { ok: false, error: unreachable };
  }
}
