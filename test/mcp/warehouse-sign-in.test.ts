import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { connectRawClient } from './raw-client.ts';
import { serveSignIn } from './sign-in-shop.ts';

type Served = Awaited<ReturnType<typeof serveSignIn>>;
type Mode = 'legacy' | 'auto';

/** A client whose person does with an address what the test says. */
async function openClient(
  served: Served,
  given: {
    readonly mode?: Mode;
    readonly who?: string;
    readonly browse?: (url: string) => Promise<boolean>;
  },
) {
  const { mode = 'auto', who = 'ann', browse } = given;
  const ways = browse === undefined ? ['form'] : ['url', 'form'];
  const capabilities = { elicitation: Object.fromEntries(ways.map((way) => [way, {}])) };
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode }, capabilities },
  );
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    if (params.mode !== 'url') return { action: 'decline' };
    asked.push(params.message);
    return { action: (await browse?.(params.url)) === true ? 'accept' : 'decline' };
  });
  const headers = {
    authorization: `Bearer ${await served.provider.sign({ sub: who, groups: [] })}`,
  };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(served.url), { requestInit: { headers } }),
  );
  return {
    asked,
    async ask() {
      const { content } = await client.callTool({
        name: 'run_sql',
        arguments: { sql: 'SELECT word FROM orders' },
      });
      const [block] = content;
      return block?.type === 'text' ? block.text : '';
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const signInAs = (served: Served, person: string) => async (url: string) => {
  const response = await fetch(served.tokens.open(url, person));
  return response.status === 200;
};
const addressIn = (text: string) =>
  /http:\/\/\S+\/oauth\/authorize\S+(?= in your browser)/.exec(text)?.[0] ?? '';

describe.each(['legacy', 'auto'] as const)(
  'signing in at the warehouse, for a client of %s',
  (mode) => {
    it('is asked for once, and then everyone sees what the warehouse shows them', async () => {
      await using served = await serveSignIn();
      await using ann = await openClient(served, { mode, browse: signInAs(served, 'ann') });
      const bobs = { mode, who: 'bob', browse: signInAs(served, 'bob') };
      await using bob = await openClient(served, bobs);
      const first = await ann.ask();
      expect(first).toContain('canary-dach');
      expect(first).not.toContain('canary-us');
      expect(await bob.ask()).toContain('canary-us');
      expect(await ann.ask()).toContain('canary-dach');
      expect([ann.asked, bob.asked]).toEqual([
        ['Connection "shop" wants you to sign in at the warehouse yourself.'],
        ['Connection "shop" wants you to sign in at the warehouse yourself.'],
      ]);
      const kept = globSync(join(served.dir, '.ktx/**/*'), { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
        .join('');
      expect(kept).not.toMatch(/for-ann|refresh-ann|code-0|s&cret/);
    });

    it('that the person declines, or somebody else does, shows no rows', async () => {
      await using served = await serveSignIn();
      await using declining = await openClient(served, { mode, browse: async () => false });
      expect(await declining.ask()).toMatch(/^Error warehouse_login_needed/);
      const statuses: number[] = [];
      // Ann gets Bob to open the address that she was given.
      const browse = async (url: string) => {
        const back = served.tokens.open(url, 'bob');
        statuses.push((await fetch(back)).status);
        return true;
      };
      await using stealing = await openClient(served, { mode, browse });
      const text = await stealing.ask();
      expect(text).toMatch(/^Error warehouse_login_needed/);
      expect(text).not.toContain('canary');
      expect(statuses).toEqual([403]);
      expect(stealing.asked).toHaveLength(1);
    });
  },
);

it('a client that opens no addresses gets it in words, and one try of the browser counts', async () => {
  await using served = await serveSignIn();
  await using ann = await openClient(served, {});
  const address = addressIn(await ann.ask());
  // The same address as long as it is good.
  expect(addressIn(await ann.ask())).toBe(address);
  const callback = new URL('/warehouse/callback', served.url);
  const query = (fields: Record<string, string>) =>
    fetch(`${callback.href}?${new URLSearchParams(fields).toString()}`);
  const state = new URL(address).searchParams.get('state') ?? '';
  expect((await query({ state: 'other', code: 'x' })).status).toBe(400);
  const refused = await query({ state, code: 'wrong' });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    'The warehouse did not let you in. Ask again in your client.',
  ]);
  // That state is used up.
  expect((await fetch(served.tokens.open(address, 'ann'))).status).toBe(400);
  const next = addressIn(await ann.ask());
  expect(new URL(next).searchParams.get('state')).not.toBe(state);
  expect(
    (await query({ state: new URL(next).searchParams.get('state') ?? '', error: 'access_denied' }))
      .status,
  ).toBe(400);
  const back = served.tokens.open(addressIn(await ann.ask()), 'ann');
  expect(await (await fetch(back)).text()).toContain('You are signed in');
  expect(await ann.ask()).toContain('canary-dach');
  expect((await fetch(back)).status).toBe(400);
  expect(served.tokens.forms.at(-1)).toMatchObject({
    grant_type: 'authorization_code',
    redirect_uri: callback.href,
  });
});

it('a token that ends is renewed without the person', async () => {
  await using served = await serveSignIn();
  served.tokens.given.seconds = 10;
  await using ann = await openClient(served, { browse: signInAs(served, 'ann') });
  expect(await ann.ask()).toContain('canary-dach');
  expect(await ann.ask()).toContain('canary-dach');
  expect(ann.asked).toHaveLength(1);
  expect(served.tokens.forms.at(-1)).toMatchObject({ refresh_token: 'refresh-ann' });
});

it('nobody signs in over stdio', async () => {
  await using served = await serveSignIn();
  const project = await openProject(served.dir, { env: { ...process.env, KTX_PERSON: 'ann' } });
  const raw = await connectRawClient(project, '2026-07-28');
  raw.send(
    raw.request(7, 'tools/call', {
      name: 'run_sql',
      arguments: { sql: 'SELECT word FROM orders' },
    }),
  );
  expect(JSON.stringify(await raw.next())).toContain('identity_unknown');
  raw.stdin.end();
  await raw.serving;
  await project.close();
});
