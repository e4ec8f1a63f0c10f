import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openKeychain } from '../../src/store/keychain.ts';
import { openSecrets, secretSchema } from '../../src/store/secrets.ts';
import { fakeKeychain } from '../support/fake-keychain.ts';
import { temporaryFolder, write } from './git-project.ts';

afterEach(() => vi.unstubAllEnvs());

function resolveSecret(reference: string, projectDir: string): string {
  const envFile = { variables: new Map<string, string>() };
  return openSecrets({ projectDir, configDir: '/nowhere', env: process.env, envFile })(reference);
}

function failure(ref: string, dir = temporaryFolder()): unknown {
  try {
    return resolveSecret(ref, dir);
  } catch (error) {
    return error;
  }
}

test('an environment variable, a file of the project, a keychain entry', () => {
  const dir = temporaryFolder();
  write(dir, 'secrets/pw', 'two words\n');
  const bin = fakeKeychain(join(dir, 'bin'), process.platform);
  openKeychain({ platform: process.platform, env: { PATH: bin } }).write('ada', 'ktx for ada');
  vi.stubEnv('KTX_TEST_SECRET', 'from the environment');
  vi.stubEnv('PATH', `${join(dir, 'bin')}:${process.env['PATH']}`);
  expect(resolveSecret('env:KTX_TEST_SECRET', dir)).toBe('from the environment');
  expect(resolveSecret('file:secrets/pw', dir)).toBe('two words');
  expect(resolveSecret('keychain:ktx/ada', dir)).toBe('ktx for ada');
});

test('what is missing is named, with the fix', () => {
  vi.stubEnv('KTX_TEST_SECRET', undefined);
  expect(failure('env:KTX_TEST_SECRET')).toMatchObject({
    code: 'secret_missing',
    exitCode: 2,
    hint: 'Set it in the environment, or in .env in the project: export KTX_TEST_SECRET=…',
  });
  expect(failure('file:nowhere')).toMatchObject({
    code: 'secret_missing',
    message: expect.stringContaining('ENOENT') as string,
  });
  vi.stubEnv('PATH', temporaryFolder());
  expect(failure('keychain:ktx/ada')).toMatchObject({
    code: 'secret_missing',
    message: expect.stringContaining('this machine has no') as string,
  });
});

test('the entry of another program is not read, whatever was approved', () => {
  const dir = temporaryFolder();
  const bin = fakeKeychain(dir, process.platform);
  vi.stubEnv('PATH', bin);
  expect(failure('keychain:login/ada')).toMatchObject({
    code: 'secret_missing',
    message: expect.stringContaining('only its own entries of the keychain') as string,
  });
  expect(existsSync(join(bin, 'arguments.log'))).toBe(false);
  const { error } = secretSchema.safeParse('keychain:login/ada');
  expect(error?.issues[0]?.message).toContain('only its own entries of the keychain');
  expect(secretSchema.safeParse('keychain:ktx/ada').success).toBe(true);
});

test('a literal is refused, and not repeated', () => {
  expect(failure('hunter2')).toMatchObject({
    code: 'secret_literal',
    message: expect.not.stringContaining('hunter2') as string,
  });
  expect(secretSchema.safeParse('hunter2').error?.issues[0]?.message).toContain('env:NAME');
  expect(secretSchema.safeParse('env:PGPASSWORD').success).toBe(true);
});

test('an empty variable is no secret', () => {
  vi.stubEnv('KTX_TEST_EMPTY', '');
  expect(() => resolveSecret('env:KTX_TEST_EMPTY', '.')).toThrow('is empty');
  vi.unstubAllEnvs();
});
