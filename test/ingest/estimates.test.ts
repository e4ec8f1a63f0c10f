import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { ingestProject } from '../../src/project/learn/ingest.ts';
import type { Range } from '../../src/ingest/report.ts';
import { read, run, write } from '../store/git-project.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { approve } from '../support/approve.ts';
import { type Answer, type ModelCall, reply, type Script, use } from '../support/model-script.ts';
import { reading, readingAsked } from '../support/reading-model.ts';
import {
  backendsOfRun,
  documentedShop,
  ingestCommand,
  type ModelMachine,
  openMachine,
} from './llm-project.ts';

// What a dry run says a model will take, against what it then took.

let machine: ModelMachine;
beforeAll(async () => {
  machine = await openMachine();
});
afterAll(() => machine.close());

const term = (word: string) =>
  `A ${word} customer means one who ordered a ${word} from the shop.\n`;
const metric = (word: string) => `The ${word} is the sum of amount in orders.\n`;
const filler = 'We met on Tuesday and talked about the weather and the garden of the office. ';

/** The words of a page of that length, of which some are to be learned. */
function page(word: string, characters: number): string {
  const plain = filler.repeat(Math.ceil(characters / filler.length)).slice(0, characters);
  return `# About ${word}\n\n${term(word)}\n${plain}\n`;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`);
const pages = (count: number, text: (word: string) => string) =>
  Object.fromEntries(names(count).map((word) => [`${word}.md`, text(word)]));

const dbtModels = `version: 2\nmodels:\n  - name: orders\n    description: One row is an order.\n`;

/** Projects by what they have, and what is there before the run that counts. */
const projects: Readonly<
  Record<
    string,
    {
      readonly files: Readonly<Record<string, string>>;
      readonly later?: Readonly<Record<string, string>>;
      readonly hasDbt?: true;
    }
  >
> = {
  'a small folder': {
    files: {
      ...pages(4, (word) => page(word, 1500)),
      'numbers.md': `# Numbers\n\n${metric('turnover')}`,
      'picnic.md': '# Picnic\n\nThere is nothing to prepare, just bring a friend or two along.\n',
    },
  },
  'many short notes': { files: pages(40, (word) => `# ${word}\n\n${term(word)}`) },
  'a few very long pages': { files: pages(3, (word) => page(word, 60_000)) },
  'a dbt project with documents': {
    files: { ...pages(6, (word) => page(word, 2500)), 'n.md': `# N\n\n${metric('sales')}` },
    hasDbt: true,
  },
  'documents of which most are known': {
    files: pages(20, (word) => page(word, 1000)),
    later: { 'word3.md': page('other', 1200), 'new.md': page('new', 1200) },
  },
};

/** `npm test` tries two of them. */
const tried = Object.entries(projects).filter((_, index) => hasSlowCases || index % 4 === 0);

const tokens = (text: string) => Math.ceil(text.length / 4);

/** A model that looks a name up, proposes and ends; its tokens are those of the texts. */
const plausible: Script = async (call: ModelCall) => {
  const unit = call.objectTaken ? undefined : readingAsked(call);
  const isLookup = unit?.stage === 'extract' && unit.turn === 1;
  const turn = unit === undefined ? 1 : unit.turn;
  const answer: Answer = isLookup
    ? use('search_context', { text: 'orders' })
    : await reading(unit?.stage === 'extract' ? withoutFirstTurn(call) : call);
  if (answer.kind !== 'reply') return answer;
  const sent = tokens(JSON.stringify(call.body));
  const cacheRead = turn === 1 ? 0 : Math.floor(sent * 0.8);
  const output = 30 + tokens(JSON.stringify(answer.blocks));
  return reply(answer.blocks, {
    usage: { input: sent - cacheRead, cacheRead, output },
    stop: answer.stop,
  });
};

/** The call as if the model had not looked anything up. */
function withoutFirstTurn(call: ModelCall): ModelCall {
  const first = call.messages.findIndex(({ role }) => role === 'assistant');
  return { ...call, messages: call.messages.filter((_, index) => index !== first) };
}

const width = ([least, most]: Range) => most / least;

/** By how much the truth is outside of the range; 1 within. */
function miss([least, most]: Range, truth: number): number {
  return Math.max(1, least / truth, truth / most);
}

async function dryRun(dir: string) {
  await approve(dir, machine.claude.env);
  const project = await openProject(dir);
  try {
    const signal = AbortSignal.timeout(60_000);
    return (await ingestProject(project, { connections: [], signal, dryRun: true })).estimate;
  } finally {
    await project.close();
  }
}

const settings = `  prices:
    claude-sonnet-4-6: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}
    sonnet: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}
`;

describe.each(backendsOfRun)('an estimate on %s', (backend) => {
  test.for(tried)('of %s', async ([, { files, later, hasDbt }]) => {
    const dir = documentedShop(machine, backend, { ...files, settings });
    if (hasDbt) {
      const config = read(dir, 'ktx.yaml').replace(
        'connections:\n',
        'connections:\n  models: {driver: dbt, path: dbt}\n',
      );
      write(dir, 'ktx.yaml', config);
      write(dir, 'dbt/dbt_project.yml', 'name: shop\nprofile: shop\nmodel-paths: [models]\n');
      write(dir, 'dbt/models/orders.sql', 'select * from raw_orders');
      write(dir, 'dbt/models/models.yml', dbtModels);
    }
    machine.endpoint.fallback = plausible;
    if (later !== undefined) {
      await ingestCommand(machine, dir);
      for (const [path, text] of Object.entries(later)) write(dir, `docs/${path}`, text);
    }
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', 'more', '--allow-empty');
    const estimate = await dryRun(dir);
    const { events } = await ingestCommand(machine, dir);
    const used = events.findLast(({ type }) => type === 'llm_usage');
    const truth = { calls: Number(used?.['calls']), costUsd: Number(used?.['cost_usd']) };
    const { calls, costUsd } = estimate ?? {};
    expect(truth.calls).toBeGreaterThan(0);
    expect(calls && width(calls)).toBeLessThanOrEqual(10);
    expect(costUsd && width(costUsd)).toBeLessThanOrEqual(9.01);
    expect(calls && miss(calls, truth.calls)).toBeLessThanOrEqual(3);
    expect(costUsd && miss(costUsd, truth.costUsd)).toBeLessThanOrEqual(3);
  });
});
