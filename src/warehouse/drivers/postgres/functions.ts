import { readWordList } from '../../../lib/word-list.ts';

export const postgresFunctions = readWordList(new URL('functions.txt', import.meta.url));
