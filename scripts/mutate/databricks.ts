import type { Mutant } from './mutant.ts';

const gate = ['warehouse/databricks-gate.test.ts'];
const driver = ['warehouse/databricks.test.ts'];
const folder = 'warehouse/drivers/databricks';

/** What stands in place of a read-only session. */
export const databricksMutants: readonly Mutant[] = [
  {
    name: 'databricks-writable-login',
    file: `${folder}/driver.ts`,
    find: '!readOnly && !mayWrite',
    replace: 'readOnly && !mayWrite',
    why: 'A login that may write is let in without a word.',
    tests: driver,
  },
  {
    name: 'databricks-groups',
    file: `${folder}/privileges.ts`,
    find: 'row[`g${index}`] === true',
    replace: "row[`g${index}`] === 'true'",
    why: 'A login that may write through a group counts as one that only reads.',
    tests: driver,
  },
  {
    name: 'databricks-plan',
    file: `${folder}/driver.ts`,
    find: 'if (mayWrite) await connection.explain(explainedQuery(sql), limits);',
    replace: '',
    why: 'A statement whose plan writes runs with a login that may write.',
    tests: gate,
  },
  {
    name: 'databricks-comment-backslash',
    file: `${folder}/statement-text.ts`,
    find: "comment.startsWith('--') && comment.includes('\\\\')",
    replace: "comment.startsWith('--') && comment.includes('\\\\\\\\')",
    why: 'A comment that goes on in the next line hides a quote, and with it a call, from the gate.',
    tests: gate,
  },
  {
    name: 'databricks-raw-text',
    file: `${folder}/statement-text.ts`,
    find: 'text !== undefined && rawPrefix.test(before)',
    replace: "text === '' && rawPrefix.test(before)",
    why: "r'…' ends elsewhere than the gate believes, and hides a call.",
    tests: gate,
  },
  {
    name: 'databricks-link',
    file: `${folder}/external-link.ts`,
    find: "protocol === 'https:' &&",
    replace: "protocol !== 'ftp:' &&",
    why: 'Rows of a result travel as plain text.',
    tests: driver,
  },
  {
    name: 'databricks-late-cancel',
    file: `${folder}/connection.ts`,
    find: 'if (signal.aborted) result.then(tooLate, () => undefined);',
    replace: '',
    why: 'A statement that is given up while it is sent goes on running for days.',
    tests: driver,
  },
];
