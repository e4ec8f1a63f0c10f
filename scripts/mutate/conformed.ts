import type { Mutant } from './mutant.ts';

const tests = ['semantic/conformed.test.ts'];

/** Names of the model that stand for something else: conformed dimensions and saved queries. */
export const conformedMutants: readonly Mutant[] = [
  {
    name: 'conformed-first',
    file: 'semantic/resolve/field-path.ts',
    find: 'return first === owner || (entity',
    replace: 'return first !== undefined || (entity',
    why: 'Every fact is grouped by the field of the first: tickets by who bought something.',
    tests,
  },
  {
    name: 'conformed-types',
    file: 'semantic/load/check-conformed.ts',
    find: 'families.size > 1',
    replace: 'families.size > 2',
    why: 'Dates and names are merged into one column.',
    tests,
  },
  {
    name: 'saved-where',
    file: 'semantic/query/saved-query.ts',
    find: 'where: [...saved.where, ...where]',
    replace: 'where: where.length > 0 ? where : saved.where',
    why: 'A further condition drops those of the saved query.',
    tests: ['cli/saved-queries.test.ts'],
  },
  {
    name: 'saved-of-others',
    file: 'project/saved/saved-queries.ts',
    find: "const isHidden = error.code === 'no_access';",
    replace: 'const isHidden = false;',
    why: 'A role is told of queries over rows that it may not see.',
    tests: ['cli/saved-queries.test.ts'],
  },
  {
    name: 'saved-found-by-others',
    file: 'project/answer/search.ts',
    find: 'saved === undefined || !(await hasAnswer(project, saved))',
    replace: 'saved === undefined',
    why: 'The search tells a role of queries over rows that it may not see.',
    tests: ['cli/saved-queries.test.ts'],
  },
];
