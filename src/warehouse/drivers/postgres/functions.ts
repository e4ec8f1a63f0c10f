import { readWordList } from '../../../lib/words.ts';

export const postgresFunctions = readWordList(new URL('functions.txt', import.meta.url));
