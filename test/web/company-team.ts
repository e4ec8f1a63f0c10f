import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCompany } from '../mcp/broker/company.ts';
import { freePort } from '../support/postgres-server.ts';
import { removeFolder } from './page.ts';
import { startTeam } from './team.ts';
import { rolesProject } from './team-project.ts';

/** The page of a server whose people log in at a provider beside it, until it is disposed. */
export async function startCompanyTeam() {
  process.env['KTX_TEST_COMPANY_SECRET'] = 'ktx-secret-of-the-company';
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const company = await startCompany(`${origin}/oauth/callback`);
  const cwd = await rolesProject();
  const broker = {
    client_id: 'ktx',
    client_secret: 'env:KTX_TEST_COMPANY_SECRET',
    login_scopes: ['openid', 'email', 'groups'],
  };
  const serve = {
    auth: { mode: 'broker', issuer: company.issuer, resource: `${origin}/mcp`, broker },
    roles: [
      { group: 'finance-dach', role: 'dach' },
      { group: 'sales-us', role: 'us' },
    ],
  };
  appendFileSync(join(cwd, 'ktx.yaml'), `serve: ${JSON.stringify(serve)}\n`);
  const team = await startTeam(cwd, [`--port=${port}`, '--allow-host', 'localhost']);
  return {
    cwd,
    origin,
    company,
    team,
    async [Symbol.asyncDispose](): Promise<void> {
      await team[Symbol.asyncDispose]();
      await company[Symbol.asyncDispose]();
      removeFolder(cwd);
    },
  };
}
