import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compared, differencesOf, type Compared, type Played } from './outcome.ts';
import { generateScripts } from './generate.ts';
import { isNamed, namedDifferences, viewOfClaudeCode } from './named-differences.ts';
import { openPlayer, type Player } from './player.ts';
import { leftOutOnOpenai, openaiGaps, type ResponseScript, type Step } from './response-script.ts';
import { shrink } from './shrink.ts';
import { judge } from './verdict.ts';
import { hasSlowCases } from '../slow-suites.ts';

const scripts = generateScripts(1);

/** Those that need no clock, spread over all classes. `npm run differential` plays all. */
const quick = scripts.filter(({ classes, alone }) => alone !== true && !classes.includes('slow'));
const chosen = spread(quick, hasSlowCases ? 60 : 13);

function spread<T>(values: readonly T[], count: number): T[] {
  return values.filter(
    (_, at) =>
      Math.floor((at * count) / values.length) !== Math.floor(((at - 1) * count) / values.length),
  );
}

describe('backends agree under faults', { concurrent: true }, () => {
  let player: Player;
  beforeAll(async () => {
    player = await openPlayer();
  });
  afterAll(() => player?.close());

  test.each(chosen)('$id $operation: $classes', async (script) => {
    const { unnamed } = await judge(player, script);
    expect(unnamed, JSON.stringify(script)).toEqual([]);
  });
});

describe('the generated scripts', () => {
  test('are at least 400, all different, and the same for the same seed', () => {
    const bodies = scripts.map((script) => JSON.stringify({ ...script, id: '' }));
    expect(scripts.length).toBeGreaterThanOrEqual(400);
    expect(new Set(bodies).size).toBe(scripts.length);
    expect(generateScripts(1)).toEqual(scripts);
    expect(generateScripts(2)).not.toEqual(scripts);
  });

  test('meet every operation with every family of faults that it can have', () => {
    const families = Map.groupBy(scripts, ({ classes }) => classes[0]);
    for (const family of ['wording', 'stream', 'stop', 'usage', 'limit', 'slow', 'mixture'])
      expect(new Set(families.get(family)?.map(({ operation }) => operation)).size, family).toBe(5);
  });

  test('go over OpenAI’s protocol unless a named rule says why not', () => {
    const gaps = scripts.map(leftOutOnOpenai).filter((gap) => gap !== undefined);
    expect(new Set(gaps)).toEqual(new Set(Object.keys(openaiGaps)));
    expect(scripts.length - gaps.length).toBeGreaterThan(300);
  });
});

describe('the comparison', () => {
  const good: Played = {
    kind: 'ok',
    exitCode: 0,
    requests: 2,
    apiCalls: 2,
    attempts: 1,
    steps: 2,
    stopReason: 'natural',
    tokens: { input: 200, output: 40, cacheRead: 0, cacheWrite: 0 },
    tools: ['look_up {"word":"tide"}'],
    toolFailures: {},
    answer: '"All is well."',
    message: '',
    repairs: 0,
    abandoned: 0,
    provoked: 0,
    hidden: 0,
    served: { input: 200, output: 40, cacheRead: 0, cacheWrite: 0 },
    isWhole: true,
  };
  const against = (other: Partial<Played>) => {
    const played = new Map<Compared, Played>(compared.map((subject) => [subject, good]));
    played.set('claude-code', { ...good, ...other });
    return differencesOf(played).map(({ subject, field }) => `${subject} ${field}`);
  };

  test('finds every field that differs on one backend, and nothing where none does', () => {
    expect(against({})).toEqual([]);
    expect(against({ message: 'Other words.' })).toEqual([]);
    for (const other of [{ kind: 'network' }, { exitCode: 1 }, { steps: 3 }, { tools: [] }])
      expect(against(other)).toEqual([`claude-code ${Object.keys(other)[0]}`]);
  });

  test('allows Claude Code to be off by exactly what a named difference explains', () => {
    const pair = (repairs: number, hidden: number) => ({
      api: { ...good, repairs },
      claudeCode: { ...good, hidden },
    });
    const off = (field: string, by: number) =>
      ({ field, subject: 'claude-code', expected: 4, actual: 4 + by }) as const;
    expect(isNamed(off('requests', -2), pair(2, 0))).toBe(true);
    expect(isNamed(off('requests', -1), pair(2, 1))).toBe(true);
    expect(isNamed(off('apiCalls', -2), pair(2, 1))).toBe(true);
    expect(isNamed(off('apiCalls against requests', -1), pair(2, 1))).toBe(true);
    for (const field of ['requests', 'apiCalls', 'apiCalls against requests', 'steps', 'tokens'])
      for (const by of [-3, 3]) expect(isNamed(off(field, by), pair(2, 1)), field).toBe(false);
    expect(isNamed(off('steps', -2), pair(2, 0))).toBe(false);
  });

  test('plays a script as Claude Code sees it only where a named difference says so', () => {
    const seen = scripts.filter((script) => viewOfClaudeCode(script) !== script);
    const hasReason = ({ steps, afterwards }: ResponseScript) =>
      [...steps, afterwards].some(
        (step) =>
          (step?.kind === 'reply' && step.fault?.what === 'broken-line') ||
          (step?.kind === 'reply' && step.fault?.at === 'before-start') ||
          (step?.kind === 'wording' &&
            /^(?:unavailable|no-model|input-and-max-tokens)$/.test(step.name)) ||
          (step?.kind === 'wording' && step.headers !== undefined),
      );
    expect(seen.filter((script) => !hasReason(script))).toEqual([]);
    expect(seen.length).toBeGreaterThan(20);
    expect(seen.length).toBeLessThan(scripts.length / 5);
  });

  test('lets the program call off one request for each answer that provokes one', () => {
    expect(against({ abandoned: 2, provoked: 2 })).toEqual([]);
    expect(against({ abandoned: 3, provoked: 2 })).toEqual(['claude-code abandoned']);
    expect(against({ abandoned: 1 })).toEqual(['claude-code abandoned']);
  });

  test('holds what ktx counted against what the endpoint served', () => {
    expect(against({ apiCalls: 1 })).toEqual([
      'claude-code apiCalls',
      'claude-code apiCalls against requests',
    ]);
    const tokens = { ...good.tokens, input: 199 };
    expect(against({ tokens })).toContain('claude-code tokens against served');
    expect(against({ tokens, isWhole: false })).toContain('claude-code tokens against served');
  });
});

test('a script shrinks to the one step and the one field that matter', async () => {
  const noise: Step = { kind: 'reply', blocks: [{ text: 'a' }, { text: 'b' }], dripMs: 1 };
  const culprit: Step = { ...noise, usage: { input: 3 } };
  const script: ResponseScript = {
    id: '1',
    classes: [],
    operation: 'loop',
    steps: [noise, culprit, noise],
    afterwards: noise,
  };
  const fails = ({ steps }: ResponseScript) =>
    Promise.resolve(steps.some((step) => step.kind === 'reply' && step.usage !== undefined));
  const { steps, afterwards } = await shrink(script, fails);
  expect(afterwards).toBeUndefined();
  expect(steps).toEqual([{ kind: 'reply', blocks: [{ text: 'b' }], usage: { input: 3 } }]);
});

test('every difference that is allowed stands in docs/llm.md, with its reason', () => {
  const docs = readFileSync('docs/llm.md', 'utf8');
  for (const { name, reason, docs: sentence } of namedDifferences) {
    expect(docs, name).toContain(sentence);
    expect(reason).not.toBe('');
  }
});
