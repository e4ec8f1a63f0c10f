import type { Mutant } from './mutant.ts';

const tests = ['warehouse/clickhouse-gate.test.ts'];
const folder = 'warehouse/drivers/clickhouse';

/** What only the gate keeps from a ClickHouse that lets its logins read. */
export const clickhouseMutants: readonly Mutant[] = [
  {
    name: 'clickhouse-outfile',
    file: `${folder}/statement-text.ts`,
    find: "nextWord === 'outfile'",
    replace: "nextWord === 'outfiles'",
    why: 'INTO OUTFILE writes a file.',
    tests,
  },
  {
    name: 'clickhouse-settings',
    file: `${folder}/statement-text.ts`,
    find: "word === 'settings' && nextWord !== ''",
    replace: "word === 'settings' && nextWord === ''",
    why: 'A statement lifts its own limits.',
    tests,
  },
  {
    name: 'clickhouse-second-statement',
    file: `${folder}/statement-text.ts`,
    find: "text === ';' && next !== undefined",
    replace: "text === ';' && next === undefined",
    why: 'A second statement is not looked at.',
    tests,
  },
  {
    name: 'clickhouse-unclear-name',
    file: `${folder}/statement-text.ts`,
    find: "kind === 'name' && unclearName.test(text)",
    replace: "kind === 'text' && unclearName.test(text)",
    why: 'A name with a line break writes its own lines into the tree of the statement.',
    tests,
  },
  {
    name: 'clickhouse-apply',
    file: `${folder}/statement-text.ts`,
    find: '/^apply$/i.test(token.text)',
    replace: '/^applies$/i.test(token.text)',
    why: 'APPLY calls a function that the tree does not name.',
    tests,
  },
  {
    name: 'clickhouse-node',
    file: `${folder}/syntax-tree.ts`,
    find: '!allowedKinds.has(kind)',
    replace: "kind === 'nothing'",
    why: 'EXPLAIN of a statement that drops a table passes.',
    tests,
  },
  {
    name: 'clickhouse-union-format',
    file: `${folder}/syntax-tree.ts`,
    find: "kind === 'SelectWithUnionQuery' && children !== 1",
    replace: "kind === 'SelectWithUnionQuery' && children > 3",
    why: 'A FORMAT that the tokens hide changes what ktx reads.',
    tests,
  },
  {
    name: 'clickhouse-added-functions',
    file: `${folder}/policy.ts`,
    find: 'clickhouseFunctions.difference(added)',
    replace: 'clickhouseFunctions',
    why: 'A function that somebody added under the name of a safe one runs.',
    tests,
  },
  {
    name: 'clickhouse-combinators',
    file: `${folder}/policy.ts`,
    find: 'if (known.has(name)) return name;',
    replace: '',
    why: 'A function of the server counts as an aggregate with a combinator.',
    tests,
  },
  {
    name: 'clickhouse-text-and-tree',
    file: `${folder}/policy.ts`,
    find: '[...tree.functions, ...calledFunctions]',
    replace: '[...tree.functions]',
    why: 'A call that the tree does not show is not looked at.',
    tests,
  },
  {
    name: 'clickhouse-common-table',
    file: `${folder}/policy.ts`,
    find: "!name.includes('.') && !hasCommonTables",
    replace: "!name.includes('.') && hasCommonTables",
    why: 'A common table of that name hides that a table is read.',
    tests,
  },
  {
    name: 'clickhouse-nothing-left',
    file: 'warehouse/drivers/clickhouse/statement-settings.ts',
    find: 'Math.max(1, Math.floor(maxBytes))',
    replace: 'Math.floor(maxBytes)',
    why: 'A budget that is used up is no limit.',
    tests: ['warehouse/spending.test.ts'],
  },
];
