import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  impersonationUrl,
  parseCredentials,
  requireKnownHosts,
} from '../../src/warehouse/drivers/bigquery/login/credentials.ts';
import { openLogin } from '../../src/warehouse/drivers/bigquery/login/login.ts';
import { machineLogin } from '../../src/warehouse/drivers/bigquery/login/machine-login.ts';
import { type BigqueryServer, startBigquery } from '../engines/bigquery/server.ts';
import { openBigquery } from '../support/bigquery.ts';
import { generous, never } from '../support/warehouses.ts';

let server: BigqueryServer;
let folder: string;
beforeAll(async () => {
  server = await startBigquery({ script: 'CREATE TABLE t (a INTEGER)' });
  folder = await mkdtemp(join(tmpdir(), 'ktx-test-google-'));
});
beforeEach(() => {
  server.fault = () => undefined;
});
afterEach(() => void vi.unstubAllEnvs());
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The error of a connection with these credentials; shows no secret. */
async function failureWith(credentials: string): Promise<Error> {
  const error = await openBigquery(server, { credentials }).then(
    () => new Error('it connected'),
    (thrown: unknown) => thrown as Error,
  );
  const text = JSON.stringify([error.message, Object.entries(error)]);
  for (const secret of server.logins.secrets) expect(text).not.toContain(secret);
  return error;
}

async function answersWith(options: Parameters<typeof openBigquery>[1]): Promise<unknown> {
  const open = await openBigquery(server, options);
  try {
    return (await open.query('SELECT 1', generous, never)).rows;
  } finally {
    await open.close();
  }
}

describe('a login by credentials', () => {
  test('of a service account signs a request for a token', async () => {
    const before = server.logins.issued;
    expect(await answersWith({})).toEqual([[1]]);
    expect(server.logins.issued - before).toBe(1);
    const asked = server.calls.filter(({ path }) => path === '/token').at(-1);
    expect(new URLSearchParams(asked?.body).get('grant_type')).toBe(
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
    );
  });

  test('of a person by gcloud sends the refresh token', async () => {
    expect(await answersWith({ credentials: server.logins.userFile(server.tokenUri) })).toEqual([
      [1],
    ]);
  });

  test('in the name of a service account asks for a second token', async () => {
    const url = `${server.origin}/v1/projects/-/serviceAccounts/x@y.iam.gserviceaccount.com:generateAccessToken`;
    expect(
      await answersWith({ credentials: server.logins.impersonatingFile(server.tokenUri, url) }),
    ).toEqual([[1]]);
    const asked = server.calls.filter(({ path }) => path.endsWith(':generateAccessToken')).at(-1);
    expect(JSON.parse(asked?.body ?? '')).toEqual({
      scope: ['https://www.googleapis.com/auth/bigquery'],
      lifetime: '3600s',
    });
  });

  test('names the service account of the configuration in an address of Google', () => {
    expect(impersonationUrl('a/b@x.iam.gserviceaccount.com')).toBe(
      'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a%2Fb%40x.iam.gserviceaccount.com:generateAccessToken',
    );
  });

  test('that Google refuses is an error without the secret, though the server repeats it', async () => {
    const wrong = server.logins.keyFile(server.tokenUri).replace('ktx-reader@', 'other@');
    const calls = server.calls.length;
    expect(await failureWith(wrong)).toMatchObject({
      code: 'warehouse_auth',
      exitCode: 4,
      message: expect.stringContaining('invalid_grant: Invalid JWT Signature. …'),
    });
    const asked = server.calls[calls];
    expect(new URLSearchParams(asked?.body).get('assertion')).toMatch(/^ey/);
    const ended = server.logins.userFile(server.tokenUri).replace(/1\/\/[\w-]+/, 'old');
    expect(await failureWith(ended)).toMatchObject({
      code: 'warehouse_auth',
      message: expect.stringContaining('expired or revoked'),
      hint: expect.stringContaining('gcloud auth application-default login'),
    });
  });

  test.each([
    ['no JSON', 'not a key', /is not JSON/],
    ['another file', '{"type": "service_account"}', /client_email, private_key/],
    ['a workload identity', '{"type": "external_account"}', /workload identity/],
    ['nothing', '{}', /no Google credential/],
  ])('of %s is refused in words', async (_, credentials, message) => {
    expect(await failureWith(credentials)).toMatchObject({
      code: 'warehouse_auth',
      message: expect.stringMatching(message),
    });
  });

  test('with a broken key, or an address without encryption, sends nothing', async () => {
    const calls = server.calls.length;
    const key = server.logins.keyFile(server.tokenUri);
    const broken = key.replace(/MII\w{20}/, 'MIIbroken');
    expect(await failureWith(broken)).toMatchObject({
      code: 'warehouse_auth',
      message: expect.stringContaining('cannot be read'),
    });
    const plain = server.logins.keyFile('http://oauth2.googleapis.com/token');
    expect(await failureWith(plain)).toMatchObject({
      message: expect.stringContaining('does not begin with https'),
    });
    expect(server.calls.length).toBe(calls);
  });

  test.each([
    'https://tokens.example/token',
    'https://googleapis.com.example/token',
    'http://127.0.0.1:9/shutdown',
    'https://169.254.169.254/x',
  ])('that a cloned project brings asks no server of its own for tokens: %s', async (address) => {
    const refused = {
      code: 'warehouse_auth',
      message: expect.stringContaining(`ask ${new URL(address).host} for their tokens`),
    };
    const { logins, tokenUri } = server;
    expect(await failureWith(logins.keyFile(address))).toMatchObject(refused);
    expect(await failureWith(logins.userFile(address))).toMatchObject(refused);
    expect(await failureWith(logins.impersonatingFile(tokenUri, address))).toMatchObject(refused);
  });

  test('may ask beside the endpoint', () => {
    const found = parseCredentials(
      server.logins.keyFile('https://oauth2.cloud.example/t'),
      'a key',
    );
    expect(() => requireKnownHosts(found, 'https://bigquery.cloud.example')).not.toThrow();
    expect(() => requireKnownHosts(found, 'https://bigquery.example')).toThrow('oauth2.cloud');
  });

  test('waits for a token server that is busy, a few times', async () => {
    let left = 2;
    server.fault = ({ path }) => (path === '/token' && left-- > 0 ? 'busy' : undefined);
    expect(await answersWith({})).toEqual([[1]]);
    server.fault = ({ path }) => (path === '/token' ? 'busy' : undefined);
    expect(await failureWith(server.logins.keyFile(server.tokenUri))).toMatchObject({
      code: 'warehouse_unreachable',
      retryable: true,
    });
  });

  test.each(['garbage', 'html'] as const)('with %s for a token is an error', async (fault) => {
    server.fault = ({ path }) => (path === '/token' ? fault : undefined);
    expect(await failureWith(server.logins.keyFile(server.tokenUri))).toMatchObject({
      code: 'warehouse_auth',
      message: expect.stringContaining('sent no token'),
    });
  });

  test('that a server takes no longer is an error after one new login', async () => {
    server.fault = ({ path }) => {
      if (path !== '/token') server.logins.expireAll();
      return undefined;
    };
    const before = server.logins.issued;
    expect(await failureWith(server.logins.keyFile(server.tokenUri))).toMatchObject({
      code: 'warehouse_auth',
    });
    expect(server.logins.issued - before).toBe(2);
  });
});

describe('the login of a machine', () => {
  test('is the file that a variable names, then that of gcloud, then the metadata server', async () => {
    const key = server.logins.keyFile(server.tokenUri);
    const user = server.logins.userFile(server.tokenUri);
    await writeFile(join(folder, 'key.json'), key);
    await writeFile(join(folder, 'application_default_credentials.json'), user);
    const named = { GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'key.json') };
    const gcloud = { CLOUDSDK_CONFIG: folder };
    expect(machineLogin({ ...named, ...gcloud }).source.type).toBe('service_account');
    expect(machineLogin(gcloud).source.type).toBe('authorized_user');
    expect(machineLogin({ HOME: join(folder, 'nobody') }).source.type).toBe('metadata_server');
    expect(() => machineLogin({ GOOGLE_APPLICATION_CREDENTIALS: '/nowhere.json' })).toThrow(
      expect.objectContaining({ code: 'warehouse_auth' }),
    );
  });

  test('is used by a connection without credentials', async () => {
    await writeFile(join(folder, 'user.json'), server.logins.userFile(server.tokenUri));
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(folder, 'user.json'));
    expect(await answersWith({ config: { credentials: undefined } })).toEqual([[1]]);
  });

  test('is asked of the metadata server with its header', async () => {
    vi.stubEnv('GCE_METADATA_HOST', new URL(server.origin).host);
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '');
    vi.stubEnv('CLOUDSDK_CONFIG', join(folder, 'nobody'));
    expect(await answersWith({ config: { credentials: undefined } })).toEqual([[1]]);
  });

  test('that does not exist is an error that says what to do', async () => {
    vi.stubEnv('GCE_METADATA_HOST', '127.0.0.1:9');
    const login = openLogin({ source: { type: 'metadata_server' } });
    await expect(login.headers(false, never)).rejects.toMatchObject({
      code: 'warehouse_auth',
      message: expect.stringContaining('no login for Google on this machine'),
    });
  });
});

test('one caller that gives up leaves the token to the others', async () => {
  const login = openLogin(parseCredentials(server.logins.keyFile(server.tokenUri), 'a key'));
  const abort = new AbortController();
  const before = server.logins.issued;
  const [first, second] = [login.headers(false, abort.signal), login.headers(false, never)];
  abort.abort();
  await expect(first).rejects.toThrow('aborted');
  expect(await second).toEqual({ authorization: expect.stringMatching(/^Bearer ya29\./) });
  expect(server.logins.issued - before).toBe(1);
});
