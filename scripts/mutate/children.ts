import type { Mutant } from './mutant.ts';

const shared = ['contract/shared-children.test.ts'];
const pool = ['llm/claude-pool.test.ts'];
const clearing = ['llm/claude-clear.test.ts'];
const folder = 'llm/claude-code/child';

/** Claude Code processes that serve several calls: nothing of one may reach another. */
export const childrenMutants: readonly Mutant[] = [
  {
    name: 'child-not-cleared',
    file: `${folder}/launch.ts`,
    find: 'return clearConversation(query, (command) => send(command, false));',
    replace: 'return true;',
    why: 'The prompt and the answer of a call are sent with the next one.',
    tests: shared,
  },
  {
    name: 'child-same-session',
    file: `${folder}/clear-conversation.ts`,
    find: 'formerSession !== undefined && message.session_id !== formerSession && !hasAsked',
    replace: '!hasAsked',
    why: 'A program that ignores the command keeps the conversation.',
    tests: clearing,
  },
  {
    name: 'child-asked-to-clear',
    file: `${folder}/clear-conversation.ts`,
    find: 'if (isAnswer(message)) return false;',
    replace: '',
    why: 'A program that sends the command to the model goes on with the conversation.',
    tests: clearing,
  },
  {
    name: 'child-prompt-unmarked',
    file: `${folder}/launch.ts`,
    find: '...(isPrompt && { client_composed: true }),',
    replace: '',
    why: 'A command or a file name in foreign text is taken for one of the person.',
    tests: shared,
  },
  {
    name: 'child-after-failure',
    file: 'llm/claude-code/child-runner.ts',
    find: 'reuse.isPossible && hasAnswered(conversation)',
    replace: 'reuse.isPossible',
    why: 'A call runs in a process that may still be at work on another.',
    tests: shared,
  },
  {
    name: 'child-too-old',
    file: `${folder}/clear-conversation.ts`,
    find: 'return index < 0 || ',
    replace: 'return index >= 0 || ',
    why: 'Programs for which nothing is proven serve several calls.',
    tests: shared,
  },
  {
    name: 'child-forever',
    file: `${folder}/launch.ts`,
    find: 'calls >= maxCallsPerChild',
    replace: 'calls < 0',
    why: 'The memory of a process grows for as long as a run takes.',
    tests: shared,
  },
  {
    name: 'pool-one-more',
    file: `${folder}/pool.ts`,
    find: 'if (this.#countAll() < this.#options.most) return',
    replace: 'if (this.#countAll() <= this.#options.most) return',
    why: 'More processes than llm.concurrency fill up the memory.',
    tests: pool,
  },
  {
    name: 'pool-ahead',
    file: `${folder}/pool.ts`,
    find: 'Math.min(wanted, this.#options.most - this.#countAll())',
    replace: 'wanted',
    why: 'As many processes as are in use are started ahead.',
    tests: pool,
  },
  {
    name: 'pool-any-key',
    file: `${folder}/pool.ts`,
    find: '.filter((slot) => slot.key === key);',
    replace: '.slice();',
    why: 'A call runs with the model, the instructions or the schema of another.',
    tests: pool,
  },
  {
    name: 'child-folder-kill',
    file: `${folder}/watchdog.ts`,
    find: 'setTimeout(removeFolders, live.size > 0 ? 300 : 0);',
    replace: '',
    why: 'After ktx was killed, files of its children stay behind.',
    tests: ['llm/claude-child-folder.test.ts'],
  },
];
