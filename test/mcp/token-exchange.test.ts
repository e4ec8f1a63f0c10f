import type { ServerResponse } from 'node:http';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connect } from './http-shop.ts';
import { askWords, serveSnowflake } from './snowflake-shop.ts';

const roles = [
  { group: 'finance-dach', role: 'dach' },
  { group: 'sales-us', role: 'us' },
];

/** A server of MCP with the login of the company, and Snowflake behind it. */
async function serveExchange() {
  const served = await serveSnowflake({
    identity: {
      mode: 'exchange',
      client_id: 'exchanger',
      client_secret: 'env:EXCHANGE',
      audience: 'https://snowflake.example',
      scope: 'session:role-any',
    },
    variables: { EXCHANGE: 's&cret' },
    serve: { roles },
  });
  const forms: URLSearchParams[] = [];
  const answer = { give: giveToken };
  served.provider.exchangeWith((form, response) => {
    forms.push(form);
    answer.give(form, response);
  });
  return { ...served, forms, answer };
}

function giveToken(form: URLSearchParams, response: ServerResponse): void {
  const [, claims = ''] = (form.get('subject_token') ?? '').split('.');
  const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub: string };
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      access_token: `for-${sub}`,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 300,
    }),
  );
}

it('each person asks Snowflake as themselves, and no token of theirs gets there', async () => {
  await using served = await serveExchange();
  const tokens = {
    ann: await served.provider.sign({ sub: 'ann', groups: ['finance-dach'] }),
    bob: await served.provider.sign({ sub: 'bob', email: 'bob@x.example', groups: ['sales-us'] }),
  };
  await using ann = await connect(served.url, tokens.ann);
  await using bob = await connect(served.url, tokens.bob);
  const answers = await Promise.all(
    [ann, bob, ann, bob].map((session) => session.call(...askWords)),
  );
  expect(answers.map(({ text }) => /canary-\w+/.exec(text)?.[0])).toEqual([
    'canary-dach',
    'canary-us',
    'canary-dach',
    'canary-us',
  ]);
  // One exchange for each token.
  expect(served.forms).toHaveLength(2);
  expect(Object.fromEntries(served.forms[0] ?? [])).toMatchObject({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    audience: 'https://snowflake.example',
    scope: 'session:role-any',
  });
  const reached = JSON.stringify(served.snowflake.server.seen);
  const kept = globSync(join(served.dir, '.ktx/**/*'), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('');
  for (const token of [tokens.ann, tokens.bob]) {
    expect(reached).not.toContain(token);
    expect(kept).not.toContain(token);
  }
  expect(kept).not.toContain('for-ann');
  // A newer token of the same person is exchanged in place of the older one.
  const newer = await served.provider.sign({ sub: 'ann', groups: ['finance-dach'], jti: '2' });
  await using again = await connect(served.url, newer);
  await again.call(...askWords);
  expect(served.forms.at(-1)?.get('subject_token')).toBe(newer);
});

it('a token of ktx has nothing to exchange', async () => {
  await using served = await serveExchange();
  const { text } = await served.tokens.create({ name: 'ci', role: 'dach', scopes: ['query'] });
  await using session = await connect(served.url, text);
  expect((await session.call(...askWords)).text).toMatch(/^Error identity_unknown/);
  expect(served.forms).toHaveLength(0);
});

const refusal = '{"error":"invalid_target","error_description":"SECRET"}';
const otherKind = '{"access_token":"x","token_type":"N_A"}';

it.each([
  { what: 'refuses', status: 400, body: refusal, reason: 'invalid_target' },
  { what: 'gives the same token back', status: 200, body: undefined, reason: 'the same token' },
  { what: 'gives no token', status: 200, body: '{}', reason: 'no token that could be sent' },
  { what: 'gives another kind', status: 200, body: otherKind, reason: 'no token that could' },
  { what: 'sends no JSON', status: 200, body: 'SECRET', reason: 'no token that could be sent' },
  { what: 'fails', status: 500, body: '<html>SECRET</html>', reason: '500' },
  { what: 'leads elsewhere', status: 302, body: '', reason: 'gives no usable answer' },
])('a provider that $what lets nobody ask', async ({ status, body, reason }) => {
  await using served = await serveExchange();
  served.answer.give = (form, response) => {
    const same = { access_token: form.get('subject_token'), token_type: 'Bearer' };
    response.writeHead(status, status === 302 ? { location: '/token' } : {});
    response.end(body ?? JSON.stringify(same));
  };
  await using session = await connect(served.url, await served.provider.sign());
  const { text } = await session.call(...askWords);
  expect(text).toMatch(/^Error (?:exchange_refused|issuer_unreachable)/);
  expect(text).toContain(reason);
  expect(text).not.toMatch(/SECRET|canary/);
  const reached = served.snowflake.server.seen.filter(({ body: sent }) =>
    sent?.statement.includes('SELECT word FROM orders'),
  );
  expect(reached).toEqual([]);
});
