import { wordsOf } from '../../../lib/words.ts';

export const sqliteFunctions = wordsOf(new URL('functions.txt', import.meta.url));
