import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startIdentityProvider } from '../support/identity-provider.ts';
import { envelopeOf, removeFolder, sendTo } from './page.ts';
import { askToEnter, enterTeam, startTeam } from './team.ts';
import { rolesProject } from './team-project.ts';

const resource = 'http://127.0.0.1:7878/mcp';
const cities = { metrics: ['orders.revenue'], dimensions: ['orders.city'] };

test('a token of the company’s provider logs in with the role of its groups, as long as it holds', async () => {
  await using provider = await startIdentityProvider(resource);
  const cwd = await rolesProject();
  onTestFinished(() => removeFolder(cwd));
  const serve = {
    auth: { issuer: provider.issuer, resource },
    roles: [
      { group: 'finance-dach', role: 'dach' },
      { group: 'sales-us', role: 'us' },
    ],
  };
  appendFileSync(join(cwd, 'ktx.yaml'), `serve: ${JSON.stringify(serve)}\n`);
  await using team = await startTeam(cwd);
  const query = async (token: string) => {
    const headers = { ...(await enterTeam(team, token)), 'content-type': 'application/json' };
    return sendTo(`${team.url}api/query`, { method: 'POST', headers, body: cities });
  };
  expect((await query(await provider.token('ann'))).text).toContain('canary-dach');
  expect((await query(await provider.token('ann'))).text).not.toContain('canary-us');
  expect((await query(await provider.token('bob'))).text).toContain('canary-us');
  // A person in none of the groups, a token for another server, and one that is too small.
  expect((await askToEnter(team, await provider.token('eve'))).status).toBe(403);
  const elsewhere = await provider.sign({ aud: 'https://other.example/mcp' });
  expect((await askToEnter(team, elsewhere)).status).toBe(401);
  const small = await query(await provider.token('bob', 'ktx.read'));
  expect([small.status, envelopeOf(small).error?.code]).toEqual([403, 'scope_missing']);
  // Within the half minute by which clocks may differ.
  const short = await provider.sign({ exp: Math.floor(Date.now() / 1000) - 29 });
  const headers = await enterTeam(team, short);
  const review = () => sendTo(`${team.url}api/review`, { headers });
  await expect.poll(async () => (await review()).status, { timeout: 5_000 }).toBe(401);
});
