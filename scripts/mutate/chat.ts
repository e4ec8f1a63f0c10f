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
];
