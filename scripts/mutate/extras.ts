import type { Mutant } from './mutant.ts';

/** Packages that are fetched when somebody asks for them. */
export const extraMutants: readonly Mutant[] = [
  {
    name: 'extras-run-scripts',
    file: 'store/extras/install-packages.ts',
    find: "  '--ignore-scripts',\n",
    replace: '',
    why: 'A package that an extra fetches runs a program while it is installed.',
    tests: ['store/extras.test.ts'],
  },
  {
    name: 'extras-half-there',
    file: 'store/extras/install-extra.ts',
    find: 'const unfinished = unfinishedFolder(name);',
    replace: 'const unfinished = folder;',
    why: 'An installation that was killed counts as complete.',
    tests: ['store/extras.test.ts'],
  },
];
