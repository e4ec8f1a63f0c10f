import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  isEnvFileInGit,
  keepInEnvFile,
  keepInKeychain,
  keepInOwnFile,
} from '../../src/project/setup/keep-secret.ts';
import { openKeychain } from '../../src/store/keychain.ts';
import { readEnvFile } from '../../src/project/trust/env-file.ts';
import { fakeKeychain } from '../support/fake-keychain.ts';
import { read, run, temporaryFolder, write } from '../store/git-project.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test.for(["it's", 'a"b', '$HOME #1', 'p\\n', ' x ', '`tick`', 'a\'b"c', 'Größe 🔑'])(
  'a password %j comes out of .env as it was typed, and other lines stay',
  async (value) => {
    const dir = temporaryFolder();
    const before = '# ours\nexport MY_SHOP_PASSWORD=old';
    write(dir, '.env', before);
    const env = { MY_SHOP_PASSWORD_2: 'of the shell' };
    const kept = await keepInEnvFile({ dir, name: 'my-shop', value }, env);
    expect(kept).toEqual({
      reference: 'env:MY_SHOP_PASSWORD_3',
      written: ['.env', '.gitignore'],
    });
    const { variables } = await readEnvFile(dir);
    expect(Object.fromEntries(variables)).toEqual({
      MY_SHOP_PASSWORD: 'old',
      MY_SHOP_PASSWORD_3: value,
    });
    expect(read(dir, '.env').startsWith(`${before}\nMY_SHOP_PASSWORD_3=`)).toBe(true);
    expect(modeOf(join(dir, '.env'))).toBe('600');
  },
);

test('git ignores .env, and one that git has is known', async () => {
  const dir = temporaryFolder();
  run(dir, 'init', '-q');
  write(dir, '.gitignore', 'dist');
  await keepInEnvFile({ dir, name: 'shop', value: 'a' }, {});
  expect(read(dir, '.gitignore')).toBe('dist\n.env\n');
  const again = await keepInEnvFile({ dir, name: 'other', value: 'a' }, {});
  expect(again.written).toEqual(['.env']);
  expect(await isEnvFileInGit(dir)).toBe(false);
  run(dir, 'add', '-f', '.env');
  expect(await isEnvFileInGit(dir)).toBe(true);
});

test('what no line of .env can hold is refused, and nothing is written', async () => {
  const dir = temporaryFolder();
  write(dir, '.env', 'OTHER=1\n');
  const kept = keepInEnvFile({ dir, name: 'shop', value: 'a\nEVIL=1' }, {});
  await expect(kept).rejects.toThrow('cannot hold this password');
  expect(read(dir, '.env')).toBe('OTHER=1\n');
});

test('a file of a person is theirs alone, and another project has another', async () => {
  const home = temporaryFolder();
  const secret = { name: 'shop', value: 'a b' };
  const env = { XDG_CONFIG_HOME: home };
  const reference = await keepInOwnFile({ ...secret, dir: '/one' }, env);
  const path = reference.replace('file:', '');
  expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['a b', '600']);
  expect(await keepInOwnFile({ ...secret, dir: '/two' }, env)).not.toBe(reference);
});

test('an entry of the keychain is read back, and another project has another', () => {
  const { platform } = process;
  const bin = fakeKeychain(temporaryFolder(), platform);
  const keychain = openKeychain({ platform, env: { PATH: bin } });
  const secret = { name: 'shop', value: 'a b' };
  const reference = keepInKeychain({ ...secret, dir: '/one' }, keychain);
  expect(reference).toMatch(/^keychain:ktx\/shop-[\da-f]{8}$/);
  expect(keychain.read(reference.replace('keychain:ktx/', ''))).toMatchObject({ value: 'a b' });
  expect(keepInKeychain({ ...secret, dir: '/two' }, keychain)).not.toBe(reference);
  writeFileSync(join(bin, 'locked'), '');
  expect(() => keepInKeychain({ ...secret, dir: '/one' }, keychain)).toThrow(
    'did not keep the password: Cannot get secret of a locked object',
  );
  // One that says yes and keeps nothing.
  const done = { kind: 'done', value: '' } as const;
  const lost = { ...keychain, write: () => done, read: () => done };
  expect(() => keepInKeychain({ ...secret, dir: '/one' }, lost)).toThrow('did not keep');
});
