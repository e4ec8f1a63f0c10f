import { wordsOf } from '../../../lib/words.ts';

export const duckdbFunctions = wordsOf(new URL('functions.txt', import.meta.url));
