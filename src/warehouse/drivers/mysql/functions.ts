import { wordsOf } from '../../../lib/words.ts';

export const mysqlFunctions = wordsOf(new URL('functions.txt', import.meta.url));
