import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { classifyFault } from '../../src/llm/faults/classify-fault.ts';
import { faultWordings } from '../../src/llm/faults/fault-wordings.ts';
import { exceededLimit, retryAfter } from '../../src/llm/faults/limit-headers.ts';
import { answerEnds, unfinishedAnswer } from '../../src/llm/faults/stop-reasons.ts';
import { ownSessionPolicy } from '../../src/llm/claude-code/account-policy.ts';
import { classifyResult } from '../../src/llm/claude-code/conversation/outcome.ts';
import { pauseMs } from '../../src/llm/governor/retries/retry-policy.ts';
import { isTransient, LlmError, type LlmErrorKind } from '../../src/llm/port/error.ts';
import { callOf, failureOf, recordingMonitor, scriptedEndpoint } from './ai-sdk-endpoint.ts';
import { openAiSdkBackend } from '../../src/llm/ai-sdk/backend.ts';
import { providerFaults } from './provider-faults.ts';

interface ErrorBody {
  readonly message?: string;
  readonly error?: { readonly message: string; readonly type?: string };
}

describe('what a provider says', () => {
  test.for(providerFaults)('$provider, $status: is $kind on the API', async (fault) => {
    const { kind, status, headers, body } = fault;
    await using endpoint = await scriptedEndpoint(() => ({
      status,
      headers,
      body: body as object,
    }));
    // Each body comes over one protocol: the table reads names, words and headers of all of them.
    const provider = fault.provider === 'openai' ? 'openai' : 'anthropic';
    const backend = openAiSdkBackend({
      provider,
      config: { api_key: 'sk-test-1', base_url: `${endpoint.url}/v1` },
      repairModel: 'none',
      projectDir: '/nowhere',
    });
    const call = { ...callOf(recordingMonitor().monitor), stepBudget: 1 };
    const failure = await failureOf(backend.text(call));
    expect([failure.kind, failure.status, failure.message]).toEqual([
      kind,
      status,
      failure.message,
    ]);
  });

  const ofAnthropic = providerFaults.filter(({ provider }) => provider === 'anthropic');
  test.for(ofAnthropic)('$status: is $kind on Claude Code, in the same words', (fault) => {
    const { kind, status, body } = fault;
    const { error } = body as ErrorBody;
    const outcome = classifyResult(
      {
        subtype: 'success',
        isError: true,
        terminalReason: 'api_error',
        stopReason: 'stop_sequence',
        status,
        error: 'unknown',
        names: [error?.type],
        text: `API Error: ${status} ${error?.message}`,
      },
      ownSessionPolicy,
    );
    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind, status } });
    if (kind === 'auth' || outcome.kind !== 'failed') return;
    expect(outcome.failure.message).toContain(`The provider says: ${error?.message.slice(0, 100)}`);
  });

  test('only in words: each wording has an example', () => {
    const texts = providerFaults.map(({ status, body }) => {
      const { message, error } = body as ErrorBody;
      return { status, text: error?.message ?? message ?? '' };
    });
    for (const { kind, statuses, words } of faultWordings) {
      const examples = texts.filter(
        ({ status, text }) => statuses.includes(status) && words.test(text),
      );
      expect(examples.length, `${kind} ${words.source}`).toBeGreaterThan(0);
    }
  });

  test.for([
    ['overloaded_error', 'overloaded'],
    ['rate_limit_error', 'rate_limit'],
    ['authentication_error', 'auth'],
    ['api_error', 'overloaded'],
    ['server_error', 'overloaded'],
    ['insufficient_quota', 'billing'],
    ['toString', undefined],
  ] as const)('inside of an answer by the name %s: %s', ([name, kind]) => {
    expect(classifyFault({ status: undefined, names: [undefined, name], text: '' })).toBe(kind);
  });

  test('about a long text far inside of its own words does not count', () => {
    const text = `${'x'.repeat(3000)} prompt is too long`;
    expect(classifyFault({ status: 400, names: [], text })).toBe('execution');
  });
});

describe('how an answer ended', () => {
  test.for(Object.entries(answerEnds))('by %s: %s', ([reason, end]) => {
    expect(unfinishedAnswer(reason)?.kind ?? 'complete').toBe(end);
  });

  test('by a word that nobody knows is not complete', () => {
    expect(unfinishedAnswer('a_word_of_tomorrow')).toMatchObject({ kind: 'execution' });
    expect(unfinishedAnswer('constructor')).toMatchObject({ kind: 'execution' });
  });
});

describe('when to ask again', () => {
  const now = Date.parse('2026-11-23T06:00:00Z');
  const secondsOf = (date: Date | undefined): number | undefined =>
    date && (date.getTime() - now) / 1000;
  const epoch = String(now / 1000 + 90);

  test.for([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': 'Mon, 23 Nov 2026 06:01:30 GMT' }, 90],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 0.25],
    [{ 'anthropic-ratelimit-tokens-reset': '2026-11-23T06:01:30Z' }, 90],
    [
      {
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-remaining': '40',
        'anthropic-ratelimit-requests-reset': '2026-11-23T06:00:05Z',
        'anthropic-ratelimit-input-tokens-limit': '40000',
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-23T06:01:30Z',
      },
      90,
    ],
    [{ 'anthropic-ratelimit-unified-reset': epoch }, 90],
    [
      {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': epoch,
        'retry-after': '3',
      },
      90,
    ],
    [
      {
        'anthropic-ratelimit-unified-status': 'allowed',
        'anthropic-ratelimit-unified-reset': epoch,
        'retry-after': '3',
      },
      3,
    ],
    [
      {
        'x-ratelimit-limit-tokens': '1000',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
      },
      360,
    ],
    [{ 'x-ratelimit-reset-requests': '20ms' }, 0.02],
    [{ 'x-ratelimit-reset-requests': '1h2m3.5s' }, 3723.5],
    [{ 'x-ratelimit-reset': epoch }, 90],
    [{ 'x-ratelimit-reset': `${epoch}000` }, 90],
    [{ 'ratelimit-reset': '12' }, 12],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ] as const)('%o: in %s s', ([headers, seconds]) => {
    expect(secondsOf(exceededLimit(headers, now).resetsAt)).toBe(seconds);
  });

  test('also for a provider that is overloaded', () => {
    expect(secondsOf(retryAfter({ 'retry-after': '4' }, now))).toBe(4);
  });

  test('pauses double, up to 30 seconds, give or take a quarter', () => {
    const policy = { firstPauseMs: 1000 };
    const pauses = (random: number): number[] =>
      [1, 2, 3, 4, 5, 6, 20].map((failed) => pauseMs(failed, policy, () => random));
    expect(pauses(0.5)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(pauses(0)[0]).toBe(750);
    expect(pauses(1)[0]).toBe(1250);
  });
});

test('docs/llm.md lists each kind with its exit code and whether it is asked again', () => {
  const docs = readFileSync(new URL('../../docs/llm.md', import.meta.url), 'utf8');
  const rows = docs.split('\n').filter((line) => line.startsWith('| `'));
  const kinds = new Set<LlmErrorKind>([
    ...providerFaults.map(({ kind }) => kind),
    ...(['network', 'max_tokens', 'invalid_output', 'step_limit', 'timeout', 'spawn'] as const),
  ]);
  for (const kind of kinds) {
    const row = rows.find((line) => line.split('|')[1]?.includes(`\`${kind}\``));
    const [, , , exitCode, again] = row?.split('|').map((cell) => cell.trim()) ?? [];
    const error = new LlmError(kind, 'x');
    expect([kind, exitCode, again === 'yes']).toEqual([
      kind,
      String(error.exitCode),
      isTransient(error),
    ]);
  }
});
