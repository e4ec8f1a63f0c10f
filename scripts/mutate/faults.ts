import type { Mutant } from './mutant.ts';

const table = ['llm/faults.test.ts'];
const contract = ['contract/llm-faults.test.ts'];
const conversation = ['llm/claude-conversation.test.ts'];
const retries = 'llm/governor/retries/request-retries.ts';

/** What a fault of a provider means, and whether its request is sent again. */
export const faultMutants: readonly Mutant[] = [
  {
    name: 'fault-credit',
    file: 'llm/faults/fault-wordings.ts',
    find: 'credit balance is too low|',
    replace: '',
    why: 'An account without credit is asked about every table.',
    tests: table,
  },
  {
    name: 'fault-stop-max-tokens',
    file: 'llm/faults/stop-reasons.ts',
    find: "  max_tokens: 'max_tokens',\n  refusal",
    replace: "  max_tokens: 'complete',\n  refusal",
    why: 'An answer that was cut off counts as whole.',
    tests: ['llm/ai-sdk.test.ts'],
  },
  {
    name: 'fault-unified-reset',
    file: 'llm/faults/limit-headers.ts',
    find: 'if (ofSubscription !== undefined) return ofSubscription;',
    replace: '',
    why: 'The reset of a subscription is not known.',
    tests: table,
  },
  {
    name: 'fault-pause-doubles',
    file: 'llm/governor/retries/retry-policy.ts',
    find: '2 ** (failed - 1)',
    replace: '1',
    why: 'A provider that is overloaded is asked every second.',
    tests: table,
  },
  {
    name: 'fault-attempts',
    file: retries,
    find: 'if (this.#failed >= policy.attempts)',
    replace: 'if (this.#failed > policy.attempts)',
    why: 'A request is sent once more than llm.retries allows.',
    tests: contract,
  },
  {
    name: 'fault-visible',
    file: retries,
    find: '    gate.announceRetry({',
    replace: '    void ({',
    why: 'ktx waits, and nobody is told.',
    tests: contract,
  },
  {
    name: 'fault-network-probe',
    file: 'llm/governor/retries/network-watch.ts',
    find: 'if (this.#probe !== call) await this.#wait(call, signal);',
    replace: '',
    why: 'Every call of a run waits out all its pauses while the network is away.',
    tests: ['contract/llm-network.test.ts'],
  },
  {
    name: 'fault-network-broken-answer',
    file: retries,
    find: "failure.kind !== 'network' || this.#isReached",
    replace: "failure.kind !== 'network'",
    why: 'Two answers that break off end a run, although the network is there.',
    tests: ['contract/llm-network.test.ts'],
  },
  {
    name: 'fault-tool-of-broken-answer',
    file: 'llm/claude-code/conversation/conversation.ts',
    find: 'if (heldCalls.length > 0) gate.refuse(heldCalls);',
    replace: 'if (heldCalls.length > 0) gate.pass(heldCalls);',
    why: 'A tool of an answer that broke off runs, and runs again.',
    tests: conversation,
  },
  {
    name: 'fault-rest-of-text',
    file: 'llm/claude-code/conversation/conversation-reader.ts',
    find: 'this.#failure ??= brokenAnswer();',
    replace: 'void brokenAnswer;',
    why: 'The rest of a broken answer counts as the answer.',
    tests: conversation,
  },
  {
    name: 'fault-late-failure',
    file: 'llm/claude-code/conversation/conversation-reader.ts',
    find: 'if (isEnding) this.#hasLateFailure = true;',
    replace: 'if (isEnding) this.#hasLateFailure = false;',
    why: 'An answer that is whole is asked for and paid again.',
    tests: conversation,
  },
  {
    name: 'fault-spent-object',
    file: 'llm/claude-code/conversation/conversation-reader.ts',
    find: "if (result.subtype === 'error_max_budget_usd') this.#takeBackObject();",
    replace: '',
    why: 'An object that spends the budget is paid for and lost.',
    tests: conversation,
  },
  {
    name: 'fault-last-line',
    file: 'llm/ai-sdk/whole-messages.ts',
    find: 'controller.enqueue(lastEvent);',
    replace: '',
    why: 'An answer that is whole is asked for and paid again.',
    tests: ['llm/ai-sdk-wire.test.ts'],
  },
];
