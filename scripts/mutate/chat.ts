import type { Mutant } from './mutant.ts';

/** What a person types into a chat, and what they get out of it. */
export const chatMutants: readonly Mutant[] = [
  {
    name: 'chat-paste-many-turns',
    file: 'cli/chat/input/paste-filter.ts',
    find: "if (!body.includes('\\n')) return body;",
    replace: "if (body !== '') return body.replaceAll('\\n', '\\r');",
    why: 'Every line of a paste is a paid turn.',
    tests: ['cli/chat-input.test.ts'],
  },
  {
    name: 'chat-curated-asked-again',
    file: 'chat/tools/permissions.ts',
    find: "if (isCurated === true && decision !== 'no') isCuratedGranted = true;",
    replace: "if (isCurated === true && decision === 'no') isCuratedGranted = true;",
    why: 'A no to curated queries lets them run from then on.',
    tests: ['cli/chat-input.test.ts'],
  },
  {
    name: 'table-cut-date',
    file: 'cli/terminal/table.ts',
    find: 'const isWhole = isNumeric[index] || isDateColumn(type, texts);',
    replace: 'const isWhole = isNumeric[index] && isDateColumn(type, texts);',
    why: 'Dates and numbers are cut where the terminal is narrow.',
    tests: ['cli/answer-text.test.ts'],
  },
  {
    name: 'export-overwrites',
    file: 'cli/export/new-file.ts',
    find: 'if (found !== undefined && !overwrites)',
    replace: 'if (found !== undefined && overwrites)',
    why: 'An export is written only over a file, and replaces it without a word.',
    tests: ['cli/export.test.ts'],
  },
  {
    name: 'share-mark-in-tag',
    file: 'cli/share/marked-answer.ts',
    find: "if (part.startsWith('<')) return part.replaceAll(anyMark, '');",
    replace: "if (part.startsWith('<')) return part;",
    why: 'Marks of numbers stand inside of tags on a shared page.',
    tests: ['cli/share.test.ts'],
  },
  {
    name: 'share-past-unchecked',
    file: 'cli/chat/shown-exchanges.ts',
    find: 'return past.length === 0 ? undefined : groundPast(past, past.length - 1);',
    replace: 'return past.at(-1);',
    why: 'A page of an answer from before --resume marks no number.',
    tests: ['cli/share.test.ts'],
  },
  {
    name: 'direction-not-compared',
    file: 'chat/grounding/directions/wrong-directions.ts',
    find: 'if (Math.sign(second.value - first.value) !== -direction.sign) return undefined;',
    replace: 'if (Math.sign(second.value - first.value) !== direction.sign) return undefined;',
    why: 'What is right about a direction is marked, and what is wrong is not.',
    tests: ['chat/grounding/rules/directions.test.ts'],
  },
  {
    name: 'direction-denied',
    file: 'chat/grounding/directions/wrong-directions.ts',
    find: 'if (isDoubtful(around)) return undefined;',
    replace: "if (around === '') return undefined;",
    why: 'What an answer denies is marked as if it had said it.',
    tests: ['chat/grounding/rules/directions.test.ts'],
  },
];
