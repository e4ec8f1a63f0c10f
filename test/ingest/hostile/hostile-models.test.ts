import { cpSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasSlowCases } from '../../slow-suites.ts';
import {
  artifactsOf,
  backendsOfRun,
  ingestCommand,
  llmSettings,
  type ModelMachine,
  openMachine,
} from '../llm-project.ts';
import type { Behaviour } from './behaviour.ts';
import { behaviours } from './behaviours.ts';
import { hostileModel } from './hostile-run.ts';
import { addPages, hostileShop, standingAnswers } from './hostile-shop.ts';

// A model that misbehaves in every way while it reads: nothing is published that its page does not
// bear out, no query that answered changes, nothing that was accepted is lost, and nothing is paid
// for twice.

let machine: ModelMachine;
let template = '';
let before: readonly object[] = [];
beforeAll(async () => {
  machine = await openMachine();
  template = await hostileShop();
  before = await standingAnswers(template);
});
afterAll(() => machine.close());

/** `npm test` tries a part of them. */
const tried = hasSlowCases ? behaviours : behaviours.filter((_, index) => index % 6 === 0);

/** What ktx claims, without the quotes and the pages. */
function claimed(dir: string): string {
  return Object.entries(artifactsOf(dir))
    .filter(([path]) => !path.startsWith('sources/'))
    .map(([path, text]) => (path.startsWith('claims/') ? withoutEvidence(text) : text))
    .join('\n');
}

function withoutEvidence(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/,"evidence":.*$/, ''))
    .join('\n');
}

/** The lines of claims whose evidence is the page. */
function claimsOf(dir: string, page: string): string {
  return Object.entries(artifactsOf(dir))
    .filter(([path]) => path.startsWith('claims/'))
    .flatMap(([, text]) => text.split('\n'))
    .filter((line) => line.includes(page))
    .join('\n');
}

interface Ended {
  readonly dir: string;
  readonly taken: ReadonlyMap<Behaviour, readonly string[]>;
  readonly answers: ReadonlyMap<Behaviour, readonly string[]>;
  /** Of each run, by behaviour. */
  readonly requests: readonly ReadonlyMap<Behaviour, number>[];
  readonly otherRequests: readonly number[];
}

/** Three runs over the same pages. */
async function ingestThrice(backend: string): Promise<Ended> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-hostile-')));
  cpSync(template, dir, { recursive: true });
  addPages(dir, llmSettings(machine, backend), tried);
  const model = hostileModel(tried);
  machine.endpoint.fallback = model.script;
  const requests: Map<Behaviour, number>[] = [];
  const otherRequests: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const others = model.others.requests;
    const counts = new Map(tried.map((own) => [own, model.tallies.get(own)?.requests ?? 0]));
    const { code } = await ingestCommand(machine, dir);
    expect(code).toBe(3);
    requests.push(
      new Map(
        tried.map((own) => [own, (model.tallies.get(own)?.requests ?? 0) - (counts.get(own) ?? 0)]),
      ),
    );
    otherRequests.push(model.others.requests - others);
  }
  const of = <Value>(pick: (own: Behaviour) => Value) =>
    new Map(tried.map((own) => [own, pick(own)]));
  return {
    dir,
    taken: of((own) => model.tallies.get(own)?.taken ?? []),
    answers: of((own) => model.tallies.get(own)?.answers ?? []),
    requests,
    otherRequests,
  };
}

test('there are at least sixty behaviours, each with a name of its own', () => {
  expect(new Set(behaviours.map(({ name }) => name)).size).toBe(behaviours.length);
  expect(behaviours.length).toBeGreaterThanOrEqual(60);
});

test('the standing queries answer before', () => {
  expect(before.filter((answer) => 'error' in answer)).toEqual([]);
});

describe.each(backendsOfRun)('a model on %s', (backend) => {
  let ended: Ended;
  beforeAll(async () => {
    ended = await ingestThrice(backend);
  });

  test('changes no standing query', async () => {
    expect(await standingAnswers(ended.dir)).toEqual(before);
  });

  test('is asked nothing again beside the pages that are unread', () => {
    expect(ended.otherRequests.slice(1)).toEqual([0, 0]);
  });

  test.for(tried)('that $name', (behaviour) => {
    const { name, never = [], kept = [], isLeft = false } = behaviour;
    const page = `sources/handbook/p${tried.indexOf(behaviour)}.md`;
    const said = ended.answers.get(behaviour)?.join('\n') ?? '';
    const all = claimed(ended.dir);
    const own = claimsOf(ended.dir, page);
    const info = `${name}\n${said.slice(0, 2000)}`;
    for (const pattern of never) expect(pattern.exec(all)?.[0], info).toBeUndefined();
    for (const pattern of kept) expect(own, info).toMatch(pattern);
    // What a tool said was taken is there.
    for (const subject of ended.taken.get(behaviour) ?? [])
      expect(own).toContain(`"subject":${JSON.stringify(subject)}`);
    const [first = 0, second, third] = ended.requests.map((run) => run.get(behaviour));
    expect(first).toBeGreaterThan(0);
    expect({ isLeft: second !== 0, third }, info).toEqual({ isLeft, third: 0 });
  });
});
