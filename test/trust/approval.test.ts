import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { agentSchema } from '../../src/project/agents/agent-schema.ts';
import { loadAgent } from '../../src/project/agents/agent.ts';
import { openProject } from '../../src/project/open/open.ts';
import { openApprovals } from '../../src/project/trust/approvals.ts';
import { openApprovedSecrets, openSources, openTrust } from '../../src/project/trust/trust.ts';
import { temporaryFolder, write } from '../store/git-project.ts';

let dir: string;
let env: Record<string, string>;
beforeEach(() => {
  dir = temporaryFolder();
  env = { HOME: temporaryFolder(), PW: 'hunter2-of-this-machine' };
});

/** The guard of the project that `ktx.yaml` describes, as a command opens it. */
async function trustOf(config: string, hash?: string) {
  write(dir, 'ktx.yaml', config);
  const project = await openProject(dir, { env });
  await project.close();
  return openTrust({ dir, config: project.config, env, hash });
}
async function approve(config: string): Promise<void> {
  const trust = await trustOf(config);
  await trust.approve(await trust.report());
}

const server = (port: number) =>
  `{driver: postgres, host: db.example, port: ${port}, database: d, user: u, password: env:PW}`;
const warehouse = (port: number) => `connections: {wh: ${server(port)}}\n`;
const unapproved = { code: 'trust_required', exitCode: 4 };

describe('secrets', () => {
  test('are given for what a person approved, and for nothing else', async () => {
    const before = await trustOf(warehouse(1));
    await expect(before.requireConnections(['wh'])).rejects.toMatchObject(unapproved);
    expect(await before.connectionSecrets('wh')).toBeUndefined();
    expect(await before.isConnectionApproved('wh')).toBe(false);
    await approve(warehouse(1));
    const secrets = await before.requireConnections(['wh']);
    expect(secrets('env:PW')).toBe('hunter2-of-this-machine');
    expect((await before.connectionSecrets('wh'))?.('env:PW')).toBe('hunter2-of-this-machine');
    const changed = await trustOf(warehouse(2));
    await expect(changed.requireConnections(['wh'])).rejects.toMatchObject(unapproved);
    expect(await changed.connectionSecrets('wh')).toBeUndefined();
  });

  test('come from the environment before .env', async () => {
    write(dir, '.env', 'PW=of-the-project\nONLY=here\n');
    const secrets = openApprovedSecrets(await openSources(dir, env), []);
    expect(secrets('env:PW')).toBe('hunter2-of-this-machine');
    expect(secrets('env:ONLY')).toBe('here');
  });

  test('in a file outside of the project are read only if that file was approved', async () => {
    const outside = temporaryFolder();
    write(outside, 'one', 'first');
    write(outside, 'two', 'second');
    const config = warehouse(1).replace('env:PW', `"file:${outside}/one"`);
    await approve(config);
    const secrets = await (await trustOf(config)).requireConnections(['wh']);
    expect(secrets(`file:${outside}/one`)).toBe('first');
    expect(() => secrets(`file:${outside}/two`)).toThrow('nobody approved that file');
  });

  test('that decide an address are used as they were approved', async () => {
    const config = 'connections: {wh: {driver: postgres, url: "file:wh.url"}}\n';
    write(dir, 'wh.url', 'postgres://db.example/shop');
    await approve(config);
    const secrets = await (await trustOf(config)).requireConnections(['wh']);
    write(dir, 'wh.url', 'postgres://evil.example/shop');
    expect(secrets('file:wh.url')).toBe('postgres://db.example/shop');
  });
});

describe('an approval', () => {
  test('is of one entry, however alike the hashes of others begin', async () => {
    await approve(warehouse(1));
    const names = Array.from({ length: 200 }, (_, index) => `c${index}`);
    const others = names.map((name, index) => `${name}: ${server(index + 2)}`);
    const trust = await trustOf(`connections: {${others.join(', ')}}\n`);
    const approved = await Promise.all(names.map((name) => trust.isConnectionApproved(name)));
    expect(approved).toEqual(names.map(() => false));
  });

  test('is of one project', async () => {
    await approve(warehouse(1));
    expect(await (await trustOf(warehouse(1))).isConnectionApproved('wh')).toBe(true);
    dir = temporaryFolder();
    expect(await (await trustOf(warehouse(1))).isConnectionApproved('wh')).toBe(false);
  });

  test('does not count where other users could have written it', async () => {
    await approve(warehouse(1));
    const { folder } = openApprovals(dir, env);
    const trust = await trustOf(warehouse(1));
    for (const mode of [0o720, 0o702]) {
      chmodSync(folder, mode);
      await expect(trust.requireConnections(['wh'])).rejects.toMatchObject({
        code: 'trust_folder_unsafe',
        hint: expect.stringContaining('chmod 700'),
      });
    }
    chmodSync(folder, 0o700);
    await trust.requireConnections(['wh']);
  });

  test('does not count in the project', async () => {
    env['XDG_CONFIG_HOME'] = join(dir, 'config');
    const trust = await trustOf(warehouse(1));
    await expect(trust.requireConnections(['wh'])).rejects.toMatchObject({
      code: 'trust_folder_in_project',
    });
  });

  test('removes what the person saw go, and nothing that was approved meanwhile', async () => {
    await approve(warehouse(1));
    const shown = await (await trustOf('connections: {}\n')).report();
    expect(shown.removed).toMatchObject([{ place: 'connection wh' }]);
    await approve(warehouse(1).replace('postgres', 'mysql'));
    const [meanwhile] = [...openApprovals(dir, env).ids()];
    await (await trustOf('connections: {}\n')).approve(shown);
    expect([...openApprovals(dir, env).ids()]).toEqual([meanwhile]);
  });

  test('that is given while others are loses none of them', async () => {
    await approve('connections: {}\n');
    const names = Array.from({ length: 30 }, (_, index) => `agent${index}`);
    const approveOne = async (name: string): Promise<boolean> => {
      const servers = `mcp_servers: {files: {transport: stdio, command: ${name}, tools: [read]}}`;
      write(dir, `agents/${name}.yaml`, `name: ${name}\ninstructions: Help.\n${servers}\n`);
      await approve('connections: {}\n');
      const project = await openProject(dir, { env });
      const agent = await loadAgent(dir, name);
      await project.close();
      return project.trust.requireAgent(agent).then(
        () => true,
        () => false,
      );
    };
    const approved = await Promise.all(names.map(approveOne));
    expect(names.filter((_, index) => approved[index] !== true)).toEqual([]);
  });
});

describe('a hash', () => {
  test('approves its list only in full', async () => {
    const { hash } = await (await trustOf(warehouse(1))).report();
    await (await trustOf(warehouse(1), hash)).requireConnections(['wh']);
    for (const other of ['', hash.slice(0, 1), hash.slice(0, -1), `${hash}0`, hash.toUpperCase()]) {
      // Nobody writes capitals, unless the hash has digits only.
      if (other === hash) continue;
      const trust = await trustOf(warehouse(1), other);
      await expect(trust.requireConnections(['wh']), other).rejects.toMatchObject(unapproved);
    }
  });

  test('approves no entry that is not on its list, also beside one that is', async () => {
    const config =
      'llm: {provider: {backend: anthropic, anthropic: {api_key: env:PW}}, models: {default: m}}\n';
    const { hash } = await (await trustOf(config)).report();
    const agent = agentSchema.parse({
      name: 'a',
      mcp_servers: { s: { transport: 'stdio', command: 'sh', args: ['-c', 'x'], tools: ['t'] } },
    });
    const trust = await trustOf(config, hash);
    await trust.requireAgent({ ...agent, mcp_servers: {} } as never);
    await expect(trust.requireAgent(agent as never)).rejects.toMatchObject(unapproved);
  });
});
