import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEgressLedger } from '../../src/llm/egress/ledger.ts';
import { egressReport } from '../../src/llm/egress/report.ts';
import { run } from '../store/git-project.ts';
import { describing, tablesAsked } from '../support/describing-model.ts';
import { say } from '../support/model-script.ts';
import { canaries, findCanaries, formulaAttacks } from './hijacked-model.ts';
import { attackNames, canaryShop, hijacked, units } from './hijacked-run.ts';
import { ingestCommand, type ModelMachine, openMachine, twoBackends } from './llm-project.ts';

let machine: ModelMachine;
beforeAll(async () => {
  machine = await openMachine();
});
afterAll(() => machine.close());

describe.each(twoBackends)('a model on %s that does what an attacker says', (backend) => {
  test('gets no row out of an ingest', async () => {
    const dir = canaryShop(machine, backend);
    const { script, answers, compared } = hijacked();
    machine.endpoint.fallback = script;
    const before = machine.endpoint.requests.length;
    await ingestCommand(machine, dir);
    const requests = machine.endpoint.requests.slice(before).map(({ text }) => text);

    // Every attack was tried and answered, and so was every formula.
    expect([...answers.keys()].toSorted()).toEqual(attackNames.toSorted());
    for (const [name, answer] of answers) expect(answer, name).toMatch(/^(?![^]*has had its)[^]+$/);
    expect(compared.length).toBeGreaterThanOrEqual(2 * Object.keys(formulaAttacks).length);
    // What the model wrote itself is in its requests again: only what came from ktx counts.
    const received = [...answers.values(), ...compared];
    const firstPrompts = requests.filter((text) => !text.includes('tool_result'));
    for (const text of [...received, ...firstPrompts])
      expect(findCanaries(withoutOwnWords(text))).toEqual([]);
    // The person's number is in no sum, and in no difference of sums.
    const numbers = received
      .flatMap((text) => [...text.matchAll(/: (-?\d{3,}(?:\.\d+)?)\b/g)])
      .map(([, number]) => Number(number));
    for (const a of numbers)
      for (const b of [0, ...numbers])
        expect(Math.abs(a - b - canaries.amount)).toBeGreaterThan(canaries.amount / 50);
    // Of the versions of a metric only the counts of rows have a number.
    const shown = compared.flatMap((text) => text.match(/"value": .*/g) ?? []);
    expect([...new Set(shown)]).toEqual(['"value": 60']);
    expect(compared.filter((text) => text.startsWith('Recorded'))).toEqual([]);
    // What did go out is in the ledger, by column and kind.
    const ledger = openEgressLedger(dir);
    const lines = egressReport(ledger.db).map(({ column, kind }) => `${column} ${kind}`);
    ledger.close();
    expect(lines).toEqual(
      expect.arrayContaining(['plan frequent', 'plan group', 'amount aggregate', 'leak_1 metric']),
    );
    expect(
      lines.filter((line) => /^(email|full_name|note|token_hint|salary) (?!aggregate)/.test(line)),
    ).toEqual([]);
  });
});

/** The text without what the model itself sent: the attacks name some canaries. */
function withoutOwnWords(text: string): string {
  return text.replaceAll(canaries.mail, '').replaceAll(canaries.rareStatus.slice(0, 5), '');
}

test('no value of any kind is sent with scan.send_samples: false', async () => {
  const dir = canaryShop(machine, 'anthropic', 'scan: {send_samples: false}\n');
  const { script, answers } = hijacked();
  machine.endpoint.fallback = script;
  const before = machine.endpoint.requests.length;
  await ingestCommand(machine, dir);
  const text = machine.endpoint.requests
    .slice(before)
    .map((request) => request.text)
    .join('\n');
  expect(answers.get('a rare group')).not.toContain('"rows"');
  const prompts = text.match(/"table": "people"[^]*?"describe"/g) ?? [];
  for (const prompt of prompts) expect(prompt).not.toMatch(/basic|north|"min"|"max"|frequent/);
});

test('values of columns that scan.no_values names are not sent', async () => {
  const dir = canaryShop(machine, 'anthropic', 'scan: {no_values: [people.plan, people.visits]}\n');
  for (const unit of units.keys()) writeFileSync(join(dir, `docs/page${unit}.md`), '# Nothing\n');
  run(dir, 'commit', '-qam', 'nothing');
  const prompts: string[] = [];
  machine.endpoint.fallback = (call) => {
    if (tablesAsked(call).some(({ table }) => table === 'people'))
      prompts.push(call.messages.map((message) => message.text).join('\n'));
    return call.system.includes('You sort pages') ? say('skip') : describing(call);
  };
  await ingestCommand(machine, dir);
  expect(prompts.length).toBeGreaterThan(0);
  expect(prompts.join('\n')).toMatch(/north/);
  expect(prompts.join('\n')).not.toMatch(/basic/);
  const [, visits] = /"name": "visits",([^}]*)\}/.exec(prompts[0] ?? '') ?? [];
  expect(visits).not.toMatch(/"min"|"max"|frequent/);
});
