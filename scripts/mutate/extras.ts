import type { Mutant } from './mutant.ts';

/** Packages that are fetched when somebody asks for them. */
export const extraMutants: readonly Mutant[] = [
  {
    name: 'extras-run-scripts',
    file: 'store/extras/install-extra.ts',
    find: "'--ignore-scripts', ",
    replace: '',
    why: 'A package that an extra fetches runs a program while it is installed.',
    tests: ['store/extras.test.ts'],
  },
  {
    name: 'extras-half-there',
    file: 'store/extras/install-extra.ts',
    find: "const unfinished = `${folder}.${randomBytes(4).toString('hex')}`;",
    replace: 'const unfinished = folder;',
    why: 'An installation that was killed counts as complete.',
    tests: ['store/extras.test.ts'],
  },
];
