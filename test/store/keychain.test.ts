import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openKeychain } from '../../src/store/keychain.ts';
import { fakeKeychain } from '../support/fake-keychain.ts';
import { temporaryFolder } from './git-project.ts';

describe.each(['linux', 'darwin', 'win32'] as const)('the keychain of %s', (platform) => {
  function start() {
    const folder = temporaryFolder();
    const bin = fakeKeychain(folder, platform);
    const env = { PATH: bin, SystemRoot: folder };
    return { bin, keychain: openKeychain({ platform, env }) };
  }

  test.each(['plain', `it's "a" $HOME \`b\` \\n; exit`, 'Größe 🔑', ' x ', '-X', '0x41'])(
    'gives back %j as it was, and no argument has it',
    (value) => {
      const { bin, keychain } = start();
      expect(keychain.write('shop-1', value).kind).toBe('done');
      expect(keychain.read('shop-1')).toEqual({ kind: 'done', value });
      const log = readFileSync(join(bin, 'arguments.log'), 'utf8');
      const calls: readonly (readonly string[])[] = log
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(calls).toHaveLength(2);
      const added = calls[0]?.filter((argument) => !calls[1]?.includes(argument)) ?? [];
      expect(added.filter((argument) => argument.includes(value) && value !== '-X')).toEqual([]);
    },
  );

  test('is usable if it says that it has no such entry', () => {
    const { bin, keychain } = start();
    expect(keychain.isUsable()).toBe(true);
    expect(keychain.read('nobody')).toEqual({ kind: 'missing' });
    writeFileSync(join(bin, 'locked'), '');
    expect(keychain.isUsable()).toBe(false);
    expect(keychain.read('nobody')).toEqual({
      kind: 'failed',
      reason: 'Cannot get secret of a locked object',
    });
  });

  test('is not usable without its program', () => {
    const env = { PATH: '/nowhere', SystemRoot: '/nowhere' };
    const keychain = openKeychain({ platform, env });
    expect(keychain.isUsable()).toBe(false);
    expect(keychain.read('x')).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('this machine has no ') as string,
    });
  });
});
