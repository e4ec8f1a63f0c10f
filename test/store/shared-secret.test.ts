import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openServeState } from '../../src/mcp/shared/serve-state.ts';
import { tokenFolder } from '../../src/mcp/http/tokens.ts';
import { openProject } from '../../src/project/open/open.ts';
import { openSharedState, type StatePlace } from '../../src/store/shared/shared-state.ts';
import { sharedSecret } from '../../src/store/shared/shared-records.ts';
import { allow, serveWithBroker } from '../mcp/broker/broker-shop.ts';
import { createDatabase } from '../support/postgres.ts';

const places: Readonly<Record<string, () => Promise<StatePlace>>> = {
  async SQLite() {
    const dir = mkdtempSync(join(tmpdir(), 'ktx-secret-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    return { kind: 'file', path: join(dir, 'logins.db') };
  },
  Postgres: async () => ({ kind: 'postgres', url: await createDatabase('secret') }),
};

const wrong = { code: 'state_key_wrong' };

describe.each(Object.keys(places))('a secret that servers share on %s', (kind) => {
  test('is plain without a key, and encrypted from the first use of one on', async () => {
    const place = await places[kind]?.();
    if (place === undefined) throw new Error(kind);
    const state = await openSharedState(place);
    onTestFinished(() => state.close());
    const { records } = state;
    const read = async (id: string) =>
      JSON.stringify((await records.find({ kind: 'Secret', id }))?.body);
    const plain = await sharedSecret(records, { id: 'cookies', key: undefined });
    expect(await read('cookies')).toContain(plain);
    expect(await sharedSecret(records, { id: 'cookies', key: 'a key' })).toBe(plain);
    expect(await read('cookies')).not.toContain(plain);
    expect(await sharedSecret(records, { id: 'cookies', key: 'a key' })).toBe(plain);

    const sealed = await sharedSecret(records, { id: 'audit', key: 'a key' });
    expect(sealed).not.toBe(plain);
    expect(await read('audit')).not.toContain(sealed);
    for (const key of ['another key', undefined])
      await expect(sharedSecret(records, { id: 'audit', key })).rejects.toMatchObject(wrong);
    const { sealed: text } = JSON.parse(await read('audit')) as { sealed: string };
    const changed = Buffer.from(text, 'base64url');
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const body = { sealed: changed.toString('base64url') };
    await records.put({ kind: 'Secret', id: 'audit', body, expires: Date.now() + 60_000 });
    await expect(sharedSecret(records, { id: 'audit', key: 'a key' })).rejects.toMatchObject(wrong);
  });
});

test('a broker with serve.state_key keeps its secret encrypted, in a file of its owner', async () => {
  process.env['KTX_TEST_STATE_KEY'] = 'a long key of the company';
  await using shop = await serveWithBroker({ state_key: 'env:KTX_TEST_STATE_KEY' });
  shop.company.signIn('p-1');
  expect((await allow(shop)).get('code')).toBeTruthy();
  const folder = tokenFolder(shop.dir, process.env);
  for (const file of globSync(join(folder, '*'))) expect(statSync(file).mode & 0o77).toBe(0);
  expect(statSync(folder).mode & 0o77).toBe(0);
  expect(dirname(folder)).toContain(process.env['XDG_CONFIG_HOME']);
  const project = await openProject(shop.dir);
  onTestFinished(() => project.close());
  await using state = await openServeState(project, process.env);
  const records = await state.records();
  const key = await state.secretKey();
  expect(key).toBe('a long key of the company');
  const secret = await sharedSecret(records, { id: 'cookies', key });
  const found = await records.find({ kind: 'Secret', id: 'cookies' });
  expect(found?.body).toEqual({ sealed: expect.any(String) });
  for (const file of globSync(join(folder, '*')))
    expect(readFileSync(file, 'latin1')).not.toContain(secret);
});
