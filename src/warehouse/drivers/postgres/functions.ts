import { wordsOf } from '../../../lib/words.ts';

export const postgresFunctions = wordsOf(new URL('functions.txt', import.meta.url));
