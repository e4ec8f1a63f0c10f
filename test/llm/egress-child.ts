import { openEgressLedger } from '../../src/llm/egress/ledger.ts';

/** Writes to the ledger of a project: `<dir> <name> <calls>`. */
const [, , dir = '', name = '', calls = '0'] = process.argv;
const ledger = openEgressLedger(dir, { maxLines: 1000 });
const values = [
  { connection: 'shop', source: 'main.orders', column: 'status', kind: 'frequent', count: 2 },
] as const;
const to = { backend: 'anthropic', host: 'api.anthropic.com', model: 'm' };
for (let call = 0; call < Number(calls); call += 1)
  ledger.record({ run: name, call: `${name}-${call}`, stage: 'describe', tool: '', ...to, values });
ledger.close();
