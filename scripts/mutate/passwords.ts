import type { Mutant } from './mutant.ts';

/** The password that a person types. */
export const passwordMutants: readonly Mutant[] = [
  {
    name: 'postgres-login-socket',
    file: 'warehouse/postgres-wire/guard-socket.ts',
    find: "connection.once('error', () => socket.destroy());",
    replace: '',
    why: 'A login without the password that it needs keeps the process for a minute.',
    tests: ['warehouse/postgres.test.ts'],
  },
  {
    name: 'password-in-git',
    file: 'project/setup/keep-secret.ts',
    find: 'return stdout.length > 0;',
    replace: 'return false;',
    why: 'A password is written into a file that the next commit has.',
    tests: ['project/keep-secret.test.ts'],
  },
  {
    name: 'password-variable',
    file: 'project/setup/keep-secret.ts',
    find: 'if (taken[free] === undefined) return free;',
    replace: 'return free;',
    why: 'The password of one connection takes the place of that of another.',
    tests: ['project/keep-secret.test.ts'],
  },
  {
    name: 'password-mode',
    file: 'project/setup/keep-secret.ts',
    find: 'await chmod(path, ownerOnly);',
    replace: '',
    why: 'A password is written into a file that others read.',
    tests: ['project/keep-secret.test.ts'],
  },
  {
    name: 'keychain-of-others',
    file: 'store/secrets.ts',
    find: "return !reference.startsWith('keychain:') || reference.startsWith(ownEntry);",
    replace: 'return true;',
    why: 'A project that was approved reads the passwords that other programs keep.',
    tests: ['store/secrets.test.ts'],
  },
  {
    name: 'keychain-lost',
    file: 'project/setup/keep-secret.ts',
    find: "if (kept.kind === 'done' && kept.value === value)",
    replace: "if (kept.kind !== 'missing')",
    why: 'A keychain that is locked takes a password, and nobody has it any more.',
    tests: ['project/keep-secret.test.ts'],
  },
  {
    name: 'keychain-arguments',
    file: 'store/keychain.ts',
    find: "args: ['-i'],",
    replace: "args: ['-i', hexOf(value), value],",
    why: 'Everybody on the machine can read a password in the list of processes.',
    tests: ['store/keychain.test.ts'],
  },
];
