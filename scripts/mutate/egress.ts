import type { Mutant } from './mutant.ts';

const tests = ['ingest/what-leaves.test.ts'];

/** What leaves the machine: the ledger, and what a model may learn about rows. */
export const egressMutants: readonly Mutant[] = [
  {
    name: 'egress-prompt-unrecorded',
    file: 'llm/governor/run-call.ts',
    find: '    recordPrompt();\n',
    replace: '',
    why: 'Values in a prompt are sent and are in no ledger.',
    tests,
  },
  {
    name: 'egress-answer-unrecorded',
    file: 'llm/governor/record-values.ts',
    find: '      record(output?.values, tool.name);\n',
    replace: '',
    why: 'Rows that a tool returns are sent and are in no ledger.',
    tests,
  },
  {
    name: 'egress-small-groups',
    file: 'ingest/aggregate/disclose.ts',
    find: 'export const fewestRows = 5;',
    replace: 'export const fewestRows = 1;',
    why: 'A group of one row shows that row.',
    tests,
  },
  {
    name: 'egress-dominated-sum',
    file: 'ingest/aggregate/disclose.ts',
    find: 'sumOfSizes < fewestRows * step',
    replace: 'sumOfSizes < 0',
    why: 'A sum that one row decides is close to its value.',
    tests: [...tests, 'ingest/aggregate.test.ts'],
  },
  {
    name: 'egress-no-complement',
    file: 'ingest/aggregate/disclose.ts',
    find: '(dropped > 0 && dropped < fewestRows ? 1 : 0)',
    replace: '0',
    why: 'The total less its groups is the one row that no group shows.',
    tests: ['ingest/aggregate.test.ts'],
  },
  {
    name: 'egress-any-formula',
    file: 'ingest/decide/reconcile/compare-for-model.ts',
    find: 'shown === undefined ? { failure: keptHere }',
    replace: 'shown === undefined ? { ...number, shown: Number(number?.value), sent }',
    why: 'A page proposes a metric that singles out a row, and the model reads its number.',
    tests,
  },
  {
    name: 'egress-keys-group',
    file: 'ingest/aggregate/table-columns.ts',
    find: ' && !isKey;',
    replace: ';',
    why: 'A model groups by a key, which tells rows and people apart.',
    tests: ['ingest/propose.test.ts'],
  },
  {
    name: 'egress-quoting-message',
    file: 'ingest/extract/proposals/message-for-model.ts',
    find: '?? []).every(isKnown)',
    replace: '?? []).some(() => true)',
    why: 'An engine quotes a value in its message, and a loop hands it to the model.',
    tests,
  },
  {
    name: 'egress-rows-withheld',
    file: 'chat/tools/agent-tools.ts',
    find: "project.config.llm.send_rows === 'on'",
    replace: "project.config.llm.send_rows !== 'never'",
    why: 'Rows go to the model although llm.send_rows is off.',
    tests,
  },
];
